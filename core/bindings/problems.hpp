#pragma once

#include <nanobind/stl/variant.h>

#include <optional>
#include <variant>

#include "bindings/arrays.hpp"
#include "chain/data.hpp"
#include "multiclass/data.hpp"

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

}  // namespace structlearn::bindings
