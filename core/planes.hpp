#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "chain.hpp"
#include "multiclass.hpp"
#include "sparse.hpp"

namespace structlearn {

// How working sets hold their planes. A store keeps one `Block` of planes for each example and can enumerate the entries
// of a plane's row: each(i, block, k, visit) calls visit(index, value), where an index may come more than once. Everything
// else, inner products included, follows from that.

// Rows as they are: for models without a compiled form, and for cuts.
struct SparsePlanes {
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

    static void push(std::int64_t, Block& block, SparseRow row) {
        block.indices.insert(block.indices.end(), row.indices.begin(), row.indices.end());
        block.values.insert(block.values.end(), row.values.begin(), row.values.end());
        block.offsets.push_back(block.indices.size());
    }
    static Plane plane(std::int64_t, const Block& block, std::int64_t k) { return block.row(k); }
    static bool same(std::int64_t, SparseRow left, SparseRow right) {
        return std::ranges::equal(left.indices, right.indices) && std::ranges::equal(left.values, right.values);
    }
    template <class Visit>
    static void each(std::int64_t, const Block& block, std::int64_t k, Visit&& visit) {
        const SparseRow row = block.row(k);
        for (std::size_t j = 0; j < row.indices.size(); ++j) visit(row.indices[j], row.values[j]);
    }
};

// Label sequences: the rows of X are shared, a plane is the other labelling.
struct ChainPlanes {
    ChainData data;
    const std::int32_t* labels;  // the truth, one a token

    using Plane = const std::int32_t*;
    struct Block {
        std::vector<std::int32_t> others;
        std::int64_t count = 0;

        std::int64_t size() const { return count; }
        std::size_t nbytes() const { return 4 * others.capacity(); }
    };

    void push(std::int64_t i, Block& block, Plane other) const {
        block.others.insert(block.others.end(), other, other + data.length(i));
        ++block.count;
    }
    Plane plane(std::int64_t i, const Block& block, std::int64_t k) const {
        return block.others.data() + k * data.length(i);
    }
    bool same(std::int64_t i, Plane left, Plane right) const { return std::equal(left, left + data.length(i), right); }
    template <class Visit>
    void each(std::int64_t i, const Block& block, std::int64_t k, Visit&& visit) const {
        chain_difference(data, i, labels + data.offsets[i], plane(i, block, k), visit);
    }
};

// One label an example: a plane is the other class.
struct MulticlassPlanes {
    MulticlassData data;
    const std::int32_t* labels;  // the truth, one an example

    using Plane = std::int32_t;
    struct Block {
        std::vector<std::int32_t> others;

        std::int64_t size() const { return static_cast<std::int64_t>(others.size()); }
        std::size_t nbytes() const { return 4 * others.capacity(); }
    };

    static void push(std::int64_t, Block& block, Plane other) { block.others.push_back(other); }
    static Plane plane(std::int64_t, const Block& block, std::int64_t k) { return block.others[k]; }
    static bool same(std::int64_t, Plane left, Plane right) { return left == right; }
    template <class Visit>
    void each(std::int64_t i, const Block& block, std::int64_t k, Visit&& visit) const {
        multiclass_difference(data, i, labels[i], block.others[k], visit);
    }
};

}  // namespace structlearn
