#pragma once

#include <optional>

#include "../chain.hpp"
#include "../multiclass.hpp"
#include "arrays.hpp"

namespace structlearn::bindings {

// The arrays of a bound Chain; holding them keeps them alive.
struct Chain {
    Chain(Vector<std::int64_t> indptr_, Vector<std::int32_t> columns_, Vector<double> values_,
          Vector<std::int64_t> offsets_, std::int64_t n_labels, std::int64_t n_inputs, double balance, bool boundaries)
        : data{{indptr_.data(), columns_.data(), values_.data()}, offsets_.data(), n_labels, n_inputs, balance, boundaries},
          indptr(std::move(indptr_)),
          columns(std::move(columns_)),
          values(std::move(values_)),
          offsets(std::move(offsets_)) {}

    std::int64_t n_weights() const {
        return (data.n_inputs + data.n_labels + (data.boundaries ? 2 : 0)) * data.n_labels;
    }

    // Where each example's labels begin in an array that holds the chosen examples one after another, `copies` of each.
    std::vector<std::int64_t> places(const Vector<std::int64_t>& examples, std::int64_t copies = 1) const {
        std::vector<std::int64_t> result{0};
        for (std::size_t k = 0; k < examples.shape(0); ++k)
            result.push_back(result.back() + copies * data.length(examples.data()[k]));
        return result;
    }

    ChainData data;
    Vector<std::int64_t> indptr;
    Vector<std::int32_t> columns;
    Vector<double> values;
    Vector<std::int64_t> offsets;
};

// The arrays of a bound Multiclass.
struct Multiclass {
    Multiclass(Vector<std::int64_t> indptr_, Vector<std::int32_t> columns_, Vector<double> values_,
               std::optional<Matrix<double>> output_features_, std::int64_t n_classes, std::int64_t n_inputs_)
        : indptr(std::move(indptr_)),
          columns(std::move(columns_)),
          values(std::move(values_)),
          output_features(std::move(output_features_)),
          n_inputs(n_inputs_) {
        data.X = {indptr.data(), columns.data(), values.data()};
        data.n_classes = n_classes;
        data.n_outputs = output_features ? static_cast<std::int64_t>(output_features->shape(1)) : n_classes;
        data.output_features = output_features ? output_features->data() : nullptr;
    }

    std::int64_t n_weights() const { return n_inputs * data.n_outputs; }

    MulticlassData data;
    Vector<std::int64_t> indptr;
    Vector<std::int32_t> columns;
    Vector<double> values;
    std::optional<Matrix<double>> output_features;
    std::int64_t n_inputs;
};

}  // namespace structlearn::bindings
