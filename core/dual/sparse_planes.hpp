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
    struct Block : CsrRows {
        std::int64_t size() const { return static_cast<std::int64_t>(indptr.size()) - 1; }
        std::size_t nbytes() const { return 8 * (indptr.capacity() + indices.capacity() + values.capacity()); }
    };

    void push(std::int64_t, Block& block, SparseRow row) const { block.append(row); }
    // Adds a row to all rows of a block.
    void rebase(Block& block, SparseRow shift) const {
        Block shifted;
        RowBuilder sum;
        for (std::int64_t k = 0; k < block.size(); ++k) {
            sum.clear();
            for (const SparseRow row : {block[k], shift})
                for (std::size_t j = 0; j < row.indices.size(); ++j) sum(row.indices[j], row.values[j]);
            sum.sort();
            shifted.append(sum);
        }
        block = std::move(shifted);
    }
    void replace_first(Block& block, SparseRow row) const {
        Block replaced;
        replaced.append(row);
        for (std::int64_t k = 1; k < block.size(); ++k) replaced.append(block[k]);
        block = std::move(replaced);
    }
    bool same(std::int64_t, const Block& block, std::int64_t k, SparseRow other) const {
        const SparseRow row = block[k];
        return std::ranges::equal(row.indices, other.indices) && std::ranges::equal(row.values, other.values);
    }
    void keep(std::int64_t i, Block& block, std::span<const std::int64_t> kept) const {
        Block remaining;
        for (const std::int64_t k : kept) push(i, remaining, block[k]);
        block = std::move(remaining);
    }
    using Written = CsrRows;
    void write(std::int64_t, const Block& block, std::int64_t k, Written& out) const { out.append(block[k]); }
    void dots(std::int64_t, const Block& block, const double* w, double* out) {
        for (std::int64_t k = 0; k < block.size(); ++k) out[k] = dot(block[k], w);
    }
    void add(std::int64_t, const Block& block, const double* coefficients, double* w) {
        for (std::int64_t k = 0; k < block.size(); ++k)
            if (coefficients[k] != 0.0) add_scaled(block[k], coefficients[k], w);
    }
    void products(std::int64_t i, const Block& block, std::int64_t k, Scratch& scratch, double* out) {
        products_by_spreading(*this, i, block, k, scratch, out);
    }
    template <class Visit>
    void each(std::int64_t, const Block& block, std::int64_t k, Visit&& visit) const {
        const SparseRow row = block[k];
        for (std::size_t j = 0; j < row.indices.size(); ++j) visit(row.indices[j], row.values[j]);
    }
};

}  // namespace structlearn
