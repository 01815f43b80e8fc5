#pragma once

#include <optional>

#include "alignment/data.hpp"
#include "bindings/arrays.hpp"
#include "grammar/data.hpp"

namespace structlearn::bindings {

// A bound Grammar; holding the arrays keeps them alive.
struct Grammar {
    Grammar(const GrammarRules& rules_, Vector<std::int64_t> offsets_, Vector<std::int32_t> words_,
            Vector<std::int32_t> edges_, Vector<std::int64_t> tree_offsets_, Vector<std::int64_t> gold_offsets_,
            Vector<std::int32_t> gold_)
        : rules(rules_),
          offsets(std::move(offsets_)),
          words(std::move(words_)),
          edges(std::move(edges_)),
          tree_offsets(std::move(tree_offsets_)),
          gold_offsets(std::move(gold_offsets_)),
          gold(std::move(gold_)),
          data{&rules, view(offsets), words.data(), edges.data(), view(tree_offsets), view(gold_offsets), gold.data()} {}
    Grammar(const Grammar&) = delete;

    GrammarRules rules;
    Vector<std::int64_t> offsets;
    Vector<std::int32_t> words, edges;
    Vector<std::int64_t> tree_offsets, gold_offsets;
    Vector<std::int32_t> gold;
    GrammarData data;
};

// One side of the pairs of a bound Alignment; holding the arrays keeps them alive.
struct AlignmentSide {
    AlignmentSide(Vector<std::int64_t> offsets_, Matrix<std::int32_t> codes_, Matrix<std::int32_t> gaps_,
                  Matrix<std::int32_t> borders_, Matrix<double> dense_)
        : offsets(std::move(offsets_)),
          codes(std::move(codes_)),
          gaps(std::move(gaps_)),
          borders(std::move(borders_)),
          dense(std::move(dense_)) {}

    AlignedSide data() const {
        return {view(offsets), codes.data(), gaps.data(), borders.data(), dense.data(),
                static_cast<std::int64_t>(dense.shape(1))};
    }

    Vector<std::int64_t> offsets;
    Matrix<std::int32_t> codes, gaps, borders;
    Matrix<double> dense;
};

// A bound Alignment.
struct Alignment {
    Alignment(const AlignmentSide& s_, const AlignmentSide& t_, Matrix<std::int64_t> matches_, Matrix<std::int64_t> gaps_,
              std::int64_t dense_at, Vector<double> scale_, int ends)
        : s(s_),
          t(t_),
          matches(match_channels(view(matches_))),
          gaps(gap_channels(view(gaps_))),
          scale(std::move(scale_)),
          order(order_by_codes(s.data(), static_cast<std::int64_t>(s.codes.shape(0)))),
          data{s.data(), t.data(), matches, gaps, dense_at, scale.data(), order.data(), static_cast<Ends>(ends)} {}
    Alignment(const Alignment&) = delete;

    AlignmentSide s, t;
    std::vector<MatchChannel> matches;
    std::vector<GapChannel> gaps;
    Vector<double> scale;
    std::vector<std::int64_t> order;
    AlignmentData data;
};

}  // namespace structlearn::bindings
