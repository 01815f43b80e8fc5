#pragma once

#include <nanobind/stl/variant.h>

#include <cstdint>
#include <utility>
#include <variant>

#include "bindings/arrays.hpp"
#include "linear/tokens.hpp"

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

}  // namespace structlearn::bindings
