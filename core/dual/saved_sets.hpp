#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "dual/block.hpp"

namespace structlearn {

// The dual side of working sets as flat arrays, block after block, planes in the order in which they are held: with the
// planes themselves it is all that a run needs to go on bit for bit. Inner products are part of it because what was summed
// when a block held other planes may differ in the last bit from the same sum today.
template <template <class> class Array>
struct DualArrays {
    Array<std::int64_t> sizes;    // (n_blocks,)
    Array<std::int64_t> known;    // (n_blocks,): of how many planes the inner products are known
    Array<double> u, r;           // (n_blocks,)
    Array<double> alpha, a, b;    // (n_planes,)
    Array<double> idle;           // (n_planes,)
    Array<double> products;       // those of plane 0 with itself, of plane 1 with planes 0 and 1, …
    Array<double> beta;           // of the weights that must be ≥ 0
};

template <class T>
using Owned = std::vector<T>;
template <class T>
using Seen = std::span<const T>;

using SavedDual = DualArrays<Owned>;
using SavedDualView = DualArrays<Seen>;

inline void append(SavedDual& saved, const DualBlock& dual) {
    auto add = [](std::vector<double>& to, std::span<const double> values) { to.insert(to.end(), values.begin(), values.end()); };
    saved.sizes.push_back(dual.size());
    saved.known.push_back(dual.known_products());
    saved.u.push_back(dual.u);
    saved.r.push_back(dual.r);
    add(saved.alpha, dual.alpha());
    add(saved.a, dual.a());
    add(saved.b, dual.b());
    add(saved.idle, dual.idle());
    for (std::int64_t k = 0; k < dual.known_products(); ++k)
        add(saved.products, {dual.products(k), static_cast<std::size_t>(k) + 1});
}

inline void require(bool holds, const std::string& wrong) {
    if (!holds) throw std::invalid_argument("the saved working sets are not valid: " + wrong);
}

// The arrays may come from a file that somebody made up: nothing is read before its place was checked.
inline void check(const SavedDualView& saved, std::int64_t n_blocks, std::size_t n_nonnegative) {
    const auto blocks = static_cast<std::size_t>(n_blocks);
    const std::size_t planes = saved.alpha.size();
    require(saved.sizes.size() == blocks && saved.known.size() == blocks && saved.u.size() == blocks && saved.r.size() == blocks,
            std::to_string(saved.sizes.size()) + " blocks where there are " + std::to_string(blocks));
    require(saved.a.size() == planes && saved.b.size() == planes && saved.idle.size() == planes, "planes without numbers");
    std::size_t counted = 0;
    std::size_t products = 0;
    for (std::size_t i = 0; i < blocks; ++i) {
        const auto size = static_cast<std::size_t>(saved.sizes[i]);
        const auto known = static_cast<std::size_t>(saved.known[i]);
        // A negative number is a very large one here.
        require(size <= planes - counted, "more planes than numbers");
        require(known <= size && known * (known + 1) / 2 <= saved.products.size() - products, "more products than numbers");
        counted += size;
        products += known * (known + 1) / 2;
        require(saved.u[i] >= 0.0 && saved.r[i] >= 0.0 && std::isfinite(saved.r[i]), "a limit below zero");
    }
    require(counted == planes && products == saved.products.size(), "numbers without a plane");
    require(saved.beta.size() == n_nonnegative, std::to_string(saved.beta.size()) + " weights are kept nonnegative where " +
                                                    std::to_string(n_nonnegative) + " must be");
    for (const double beta : saved.beta) require(beta >= 0.0 && std::isfinite(beta), "a multiplier below zero");
    for (std::size_t k = 0; k < planes; ++k) {
        require(saved.alpha[k] >= 0.0 && std::isfinite(saved.alpha[k]), "a multiplier below zero");
        require(saved.idle[k] >= 0.0 && std::isfinite(saved.idle[k]), "a count below zero");
        require(std::isfinite(saved.a[k]) && std::isfinite(saved.b[k]), "a plane that is not finite");
    }
}

}  // namespace structlearn
