#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "batch/parallel.hpp"
#include "dual/block.hpp"

namespace structlearn {

// Which planes of working sets are of no use, and which go where there is not room for all.

// The planes that have α = 0 count one more idle turn.
template <class Sets>
void count_idle(Sets& sets) {
    for (std::int64_t i = 0; i < sets.n_blocks(); ++i) {
        DualBlock& dual = sets.dual(i);
        const auto alpha = dual.alpha();
        const auto idle = dual.idle();
        for (std::size_t k = 0; k < alpha.size(); ++k) idle[k] = alpha[k] > 0.0 ? 0 : idle[k] + 1;
    }
}

// The same where α plays no part: `which` was of use, one a block, −1 for none.
template <class Sets>
void mark_used(Sets& sets, std::span<const std::int64_t> which) {
    for (std::int64_t i = 0; i < sets.n_blocks(); ++i) {
        const auto idle = sets.dual(i).idle();
        for (std::size_t k = 0; k < idle.size(); ++k) idle[k] = static_cast<std::int64_t>(k) == which[i] ? 0 : idle[k] + 1;
    }
}

// Forgets planes that were idle more than `limit` times in a row; returns how many.
template <class Sets>
std::int64_t drop_idle(Sets& sets, std::int64_t limit, int n_threads) {
    std::atomic<std::int64_t> dropped{0};
    Workers<typename Sets::Workspace>(n_threads, sets.workspace()).run(sets.n_blocks(), [&](std::int64_t i, auto& with) {
        const std::int64_t n = sets.keep_if(i, [&](DualBlock& dual, std::int64_t k) { return dual.idle()[k] <= limit; }, with);
        if (n > 0) dropped += n;
    });
    return dropped;
}

// Forgets planes until the others take about `most` bytes: those without weight first, the longest idle among them
// before the rest, then, unless these are spared, those with the least weight, which is taken out of w. Returns
// whether those without weight were not enough. Of planes that were idle equally long, so many go as have to.
template <class Sets>
bool limit_memory(Sets& sets, std::size_t most, double* w, bool spare_weight) {
    const std::size_t bytes = sets.nbytes();
    if (bytes <= most) return false;
    std::vector<double> worth;  // α, or minus the idle turns
    auto worth_of = [](DualBlock& dual, std::int64_t k) {
        return dual.alpha()[k] > 0.0 ? dual.alpha()[k] : -1.0 - dual.idle()[k];
    };
    for (std::int64_t i = 0; i < sets.n_blocks(); ++i)
        for (std::int64_t k = 0; k < sets.n_planes(i); ++k) worth.push_back(worth_of(sets.dual(i), k));
    const double kept_part = static_cast<double>(most) / static_cast<double>(bytes);
    const auto too_many = std::min(static_cast<std::ptrdiff_t>((1.0 - kept_part) * static_cast<double>(worth.size())),
                                   std::ssize(worth) - 1);
    if (too_many <= 0) return false;
    std::ranges::nth_element(worth, worth.begin() + too_many);
    const double found = worth[static_cast<std::size_t>(too_many)];
    const double least = spare_weight ? std::min(found, 0.0) : found;
    auto alike = least < 0.0 ? too_many - std::ranges::count_if(worth, [&](double one) { return one < least; }) : 0;
    std::vector<double> change;
    for (std::int64_t i = 0; i < sets.n_blocks(); ++i) {
        DualBlock& dual = sets.dual(i);
        change.assign(static_cast<std::size_t>(dual.size()), 0.0);
        for (std::int64_t k = 0; k < dual.size(); ++k)
            if (worth_of(dual, k) < least && dual.alpha()[k] > 0.0 && !sets.is_pinned(k)) change[k] = -dual.alpha()[k];
        sets.add_rows(i, change.data(), w);
        const auto wanted = [&](DualBlock& block, std::int64_t k) {
            const double one = worth_of(block, k);
            return one > least || (one == least && alike-- <= 0);
        };
        sets.keep_if(i, wanted, sets.workspace());
    }
    sets.nonnegative().clip(w);
    return found > 0.0;
}

}  // namespace structlearn
