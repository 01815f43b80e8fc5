#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "batch/parallel.hpp"
#include "batch/ragged.hpp"
#include "ranking/most_violating.hpp"
#include "ranking/orders.hpp"

namespace structlearn {

// Every query has its documents, one query after another: those of query q begin at offsets[q].

// Calls work(q, begin, size, worker) for the documents of every query.
template <class Worker, class Work>
void for_each_query(Ragged queries, int n_threads, Work&& work) {
    Workers<Worker>(n_threads, Worker()).run(queries.count(), [&](std::int64_t q, Worker& worker) {
        work(q, queries.begin(q), queries.size(q), worker);
    });
}

inline void rank_documents(std::optional<std::span<const std::int32_t>> tiers, std::span<const double> keys,
                           std::span<const std::int64_t> offsets, std::span<std::int32_t> out, int n_threads) {
    const Ragged queries(offsets);
    parallel_for(queries.count(), n_threads, [&](std::int64_t q, int) {
        const std::int64_t begin = queries.begin(q);
        rank(tiers ? tiers->data() + begin : nullptr, keys.data() + begin, queries.size(q), out.data() + begin);
    });
}

inline void count_swapped_pairs(std::span<const std::int32_t> orders, std::span<const std::int64_t> order_offsets,
                                std::span<const std::int32_t> grades, std::span<const std::int64_t> offsets,
                                std::span<double> above, std::span<double> below, int n_threads) {
    for_each_query<SwappedPairs>(offsets, n_threads, [&](auto q, auto begin, auto size, SwappedPairs& pairs) {
        const auto order = Ragged(order_offsets).of(orders, q);
        pairs.count(order.data(), static_cast<std::int64_t>(order.size()), grades.data() + begin, size,
                    above.data() + begin, below.data() + begin);
    });
}

inline void least_precise_rankings(std::span<const double> scores, std::span<const std::uint8_t> relevant,
                                   std::span<const std::int64_t> offsets, std::span<std::int32_t> out, int n_threads) {
    for_each_query<LeastPrecise>(offsets, n_threads, [&](auto, auto begin, auto size, LeastPrecise& least) {
        least.run(scores.data() + begin, relevant.data() + begin, size, out.data() + begin);
    });
}

inline void least_gain_rankings(std::span<const double> scores, std::span<const std::int32_t> grades,
                                std::span<const double> gains, std::span<const double> weights,
                                std::span<const double> pairs, std::int64_t k, std::span<const std::int64_t> offsets,
                                std::span<std::int32_t> out, int n_threads) {
    for_each_query<LeastGain>(offsets, n_threads, [&](auto q, auto begin, auto size, LeastGain& least) {
        least.run(scores.data() + begin, grades.data() + begin, gains.data() + begin, weights.data() + begin, pairs[q],
                  std::min(k, size), size, out.data() + begin);
    });
}

inline void least_f1_labels(std::span<const double> scores, std::span<const std::uint8_t> positive,
                            std::span<const std::int64_t> offsets, std::span<std::uint8_t> out, int n_threads) {
    for_each_query<LeastF1>(offsets, n_threads, [&](auto, auto begin, auto size, LeastF1& least) {
        least.run(scores.data() + begin, positive.data() + begin, size, out.data() + begin);
    });
}

}  // namespace structlearn
