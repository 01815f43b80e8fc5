#pragma once

#include "bindings/composed.hpp"
#include "chain/structure.hpp"
#include "multiclass/structure.hpp"
#include "segments/structure.hpp"

namespace structlearn::bindings {

// Structures as Python holds them, with their arrays.

struct ChainEngine {
    ChainEngine(Vector<std::int64_t> offsets_, std::int64_t n_labels, bool boundaries, bool pairs,
                std::optional<Vector<std::uint8_t>> allowed_labels_,
                std::optional<Vector<std::uint8_t>> allowed_transitions_)
        : offsets(std::move(offsets_)),
          allowed_labels(std::move(allowed_labels_)),
          allowed_transitions(std::move(allowed_transitions_)),
          shape{view(offsets),
                n_labels,
                boundaries,
                pairs,
                allowed_labels ? allowed_labels->data() : nullptr,
                allowed_transitions ? allowed_transitions->data() : nullptr} {}

    Vector<std::int64_t> offsets;
    std::optional<Vector<std::uint8_t>> allowed_labels, allowed_transitions;
    ChainShape shape;
};

struct SegmentEngine {
    SegmentEngine(Vector<std::int64_t> offsets_, std::int64_t n_labels, std::int64_t max_length, bool lengths, bool ends,
                  std::optional<Matrix<std::int32_t>> runs_)
        : offsets(std::move(offsets_)),
          runs(std::move(runs_)),
          shape{view(offsets), n_labels, max_length, lengths, ends, runs ? runs->data() : nullptr} {}

    Vector<std::int64_t> offsets;
    std::optional<Matrix<std::int32_t>> runs;
    SegmentShape shape;
};

// Scores that are given, with where those of each example begin.
struct GivenScores {
    GivenScores(std::int64_t n_shared_, Vector<std::int64_t> offsets_) : n_shared(n_shared_), offsets(std::move(offsets_)) {}

    GivenScorer scorer() const { return {n_shared, view(offsets)}; }

    std::int64_t n_shared;
    Vector<std::int64_t> offsets;
};

}  // namespace structlearn::bindings
