#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "dual/products.hpp"
#include "linear/sparse.hpp"

namespace structlearn {

// Planes as rows written out: for models without a compiled form, and for cuts. See dual/working_sets.hpp for what a store is.
class SparsePlanes {
public:
    using Plane = SparseRow;
    struct Block {
        std::vector<std::size_t> offsets{0};
        std::vector<std::int64_t> indices;
        std::vector<double> values;

        std::int64_t size() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
        SparseRow row(std::int64_t k) const {
            const auto begin = offsets[k];
            const auto count = offsets[k + 1] - begin;
            return {{indices.data() + begin, count}, {values.data() + begin, count}};
        }
        std::size_t nbytes() const { return 8 * (offsets.capacity() + indices.capacity() + values.capacity()); }
    };

    void push(std::int64_t, Block& block, SparseRow row) const {
        block.indices.insert(block.indices.end(), row.indices.begin(), row.indices.end());
        block.values.insert(block.values.end(), row.values.begin(), row.values.end());
        block.offsets.push_back(block.indices.size());
    }
    // Adds a row to all rows of a block.
    void rebase(Block& block, SparseRow shift) const {
        Block shifted;
        RowBuilder sum;
        for (std::int64_t k = 0; k < block.size(); ++k) {
            sum.clear();
            for (const SparseRow row : {block.row(k), shift})
                for (std::size_t j = 0; j < row.indices.size(); ++j) sum(row.indices[j], row.values[j]);
            sum.sort();
            for (const auto& [index, value] : sum.entries()) {
                shifted.indices.push_back(index);
                shifted.values.push_back(value);
            }
            shifted.offsets.push_back(shifted.indices.size());
        }
        block = std::move(shifted);
    }
    bool same(std::int64_t, const Block& block, std::int64_t k, SparseRow other) const {
        const SparseRow row = block.row(k);
        return std::ranges::equal(row.indices, other.indices) && std::ranges::equal(row.values, other.values);
    }
    void keep(std::int64_t i, Block& block, std::span<const std::int64_t> kept) const {
        Block remaining;
        for (const std::int64_t k : kept) push(i, remaining, block.row(k));
        block = std::move(remaining);
    }
    using Written = CsrRows;
    void write(std::int64_t, const Block& block, std::int64_t k, Written& out) const {
        const SparseRow row = block.row(k);
        out.indices.insert(out.indices.end(), row.indices.begin(), row.indices.end());
        out.values.insert(out.values.end(), row.values.begin(), row.values.end());
        out.indptr.push_back(static_cast<std::int64_t>(out.indices.size()));
    }
    void dots(std::int64_t, const Block& block, const double* w, double* out) {
        for (std::int64_t k = 0; k < block.size(); ++k) out[k] = dot(block.row(k), w);
    }
    void add(std::int64_t, const Block& block, const double* coefficients, double* w) {
        for (std::int64_t k = 0; k < block.size(); ++k)
            if (coefficients[k] != 0.0) add_scaled(block.row(k), coefficients[k], w);
    }
    void products(std::int64_t i, const Block& block, std::int64_t k, Scratch& scratch, double* out) {
        products_by_spreading(*this, i, block, k, scratch, out);
    }
    template <class Visit>
    void each(std::int64_t, const Block& block, std::int64_t k, Visit&& visit) const {
        const SparseRow row = block.row(k);
        for (std::size_t j = 0; j < row.indices.size(); ++j) visit(row.indices[j], row.values[j]);
    }
};

}  // namespace structlearn
