#pragma once

#include <nanobind/stl/variant.h>

#include <optional>
#include <variant>

#include "alignment/data.hpp"
#include "bindings/arrays.hpp"
#include "chain/second_order.hpp"
#include "grammar/data.hpp"
#include "multiclass/data.hpp"
#include "segments/data.hpp"

namespace structlearn::bindings {

// The arrays of a sparse matrix of tokens; holding them keeps them alive. Values are doubles or floats.
class Tokens {
public:
    Tokens(Vector<std::int64_t> indptr, Vector<std::int32_t> columns,
           std::variant<Vector<double>, Vector<float>> values, std::int64_t n_columns)
        : indptr_(std::move(indptr)), columns_(std::move(columns)), values_(std::move(values)), n_columns_(n_columns) {}

    std::int64_t n_columns() const { return n_columns_; }
    CsrMatrix matrix() const {
        const auto* doubles = std::get_if<Vector<double>>(&values_);
        const auto* floats = std::get_if<Vector<float>>(&values_);
        return {indptr_.data(), columns_.data(), doubles ? doubles->data() : nullptr, floats ? floats->data() : nullptr};
    }

private:
    Vector<std::int64_t> indptr_;
    Vector<std::int32_t> columns_;
    std::variant<Vector<double>, Vector<float>> values_;
    std::int64_t n_columns_;
};

// A bound Chain.
struct Chain {
    Chain(const Tokens& tokens_, Vector<std::int64_t> offsets_, std::int64_t n_labels, double balance, bool boundaries,
          std::optional<Tokens> pair_tokens_, std::optional<Vector<std::uint8_t>> allowed_labels_,
          std::optional<Vector<std::uint8_t>> allowed_transitions_, std::optional<Vector<std::uint8_t>> kept_)
        : data{tokens_.matrix(), view(offsets_), n_labels, tokens_.n_columns(), balance, boundaries},
          tokens(tokens_),
          offsets(std::move(offsets_)),
          pair_tokens(std::move(pair_tokens_)),
          allowed_labels(std::move(allowed_labels_)),
          allowed_transitions(std::move(allowed_transitions_)),
          kept(std::move(kept_)) {
        if (pair_tokens) data.P = pair_tokens->matrix(), data.n_pair_inputs = pair_tokens->n_columns();
        if (allowed_labels) data.allowed_labels = allowed_labels->data();
        if (allowed_transitions) data.allowed_transitions = allowed_transitions->data();
        if (kept) data.kept = kept->data();
    }

    ChainData data;
    Tokens tokens;
    Vector<std::int64_t> offsets;
    std::optional<Tokens> pair_tokens;
    std::optional<Vector<std::uint8_t>> allowed_labels, allowed_transitions, kept;
};

// A bound Multiclass.
struct Multiclass {
    Multiclass(const Tokens& tokens_, std::optional<Matrix<double>> output_features_, std::int64_t n_classes)
        : tokens(tokens_), output_features(std::move(output_features_)) {
        data.X = tokens.matrix();
        data.n_classes = n_classes;
        data.n_outputs = output_features ? static_cast<std::int64_t>(output_features->shape(1)) : n_classes;
        data.output_features = output_features ? output_features->data() : nullptr;
    }

    std::int64_t n_weights() const { return tokens.n_columns() * data.n_outputs; }

    MulticlassData data;
    Tokens tokens;
    std::optional<Matrix<double>> output_features;
};

// A bound Chain of the second order.
struct SecondOrderChain {
    explicit SecondOrderChain(const Chain& chain_) : chain(chain_), data(chain.data) {}

    Chain chain;
    SecondOrderData data;
};

// A bound Segments.
struct Segments {
    Segments(const Tokens& tokens_, Vector<std::int64_t> offsets_, std::int64_t n_labels, std::int64_t max_length,
             bool lengths, bool ends)
        : data{tokens_.matrix(), view(offsets_), n_labels, tokens_.n_columns(), max_length, lengths, ends},
          tokens(tokens_),
          offsets(std::move(offsets_)) {}

    SegmentData data;
    Tokens tokens;
    Vector<std::int64_t> offsets;
};

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
