#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "batch/ragged.hpp"

namespace structlearn {

// One sparse vector over the weights: indices strictly increasing.
struct SparseRow {
    std::span<const std::int64_t> indices;
    std::span<const double> values;
};

inline double dot(SparseRow row, const double* w) {
    double sum = 0.0;
    for (std::size_t k = 0; k < row.indices.size(); ++k) sum += row.values[k] * w[row.indices[k]];
    return sum;
}

inline void add_scaled(SparseRow row, double coefficient, double* w) {
    for (std::size_t k = 0; k < row.indices.size(); ++k) w[row.indices[k]] += coefficient * row.values[k];
}

// Collects (index, value) pairs in any order; `sort` merges equal indices and drops what cancels to zero.
class RowBuilder {
public:
    void clear() { entries_.clear(); }
    void operator()(std::int64_t index, double value) { entries_.emplace_back(index, value); }
    void sort();
    const std::vector<std::pair<std::int64_t, double>>& entries() const { return entries_; }

private:
    std::vector<std::pair<std::int64_t, double>> entries_;
};

// Rows over the weights in compressed form; a view.
struct SparseRows {
    Ragged rows;
    std::span<const std::int64_t> indices;
    std::span<const double> values;

    SparseRow operator[](std::int64_t k) const { return {rows.of(indices, k), rows.of(values, k)}; }
};

// out[k] = ⟨w, row k⟩
inline void rows_dot(const SparseRows& rows, std::span<const double> w, std::span<double> out) {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = dot(rows[static_cast<std::int64_t>(k)], w.data());
}

// w += Σ_k coefficients[k] row k
inline void rows_add_to(const SparseRows& rows, std::span<const double> coefficients, std::span<double> w) {
    for (std::size_t k = 0; k < coefficients.size(); ++k)
        if (coefficients[k] != 0.0) add_scaled(rows[static_cast<std::int64_t>(k)], coefficients[k], w.data());
}

// Rows that it keeps itself.
struct CsrRows {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int64_t> indices;
    std::vector<double> values;

    SparseRow operator[](std::int64_t k) const { return SparseRows{{indptr}, indices, values}[k]; }
    void append(SparseRow row) {
        indices.insert(indices.end(), row.indices.begin(), row.indices.end());
        values.insert(values.end(), row.values.begin(), row.values.end());
        indptr.push_back(static_cast<std::int64_t>(indices.size()));
    }
    void append(const RowBuilder& row);
};

}  // namespace structlearn
