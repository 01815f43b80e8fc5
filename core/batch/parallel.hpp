#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace structlearn {

// Calls work(item, thread) for every item of [0, n_items). Items must be independent of one another, so that
// the result is the same for any number of threads. Threads live for one call only: nothing survives a fork.
// The first exception thrown by a worker reaches the caller after all threads have stopped.
template <class Work>
void parallel_for(std::int64_t n_items, int n_threads, Work&& work) {
    n_threads = static_cast<int>(std::clamp<std::int64_t>(n_items, 1, std::max(n_threads, 1)));
    if (n_threads == 1) {
        for (std::int64_t item = 0; item < n_items; ++item) work(item, 0);
        return;
    }
    const std::int64_t grain = std::max<std::int64_t>(1, n_items / (std::int64_t{8} * n_threads));
    std::atomic<std::int64_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    auto run = [&](int thread) {
        try {
            for (;;) {
                const std::int64_t begin = next.fetch_add(grain);
                if (begin >= n_items) return;
                const std::int64_t end = std::min(begin + grain, n_items);
                for (std::int64_t item = begin; item < end; ++item) work(item, thread);
            }
        } catch (...) {
            next = n_items;
            const std::lock_guard lock(failure_mutex);
            if (!failure) failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> threads;
        threads.reserve(static_cast<std::size_t>(n_threads) - 1);
        for (int thread = 1; thread < n_threads; ++thread) threads.emplace_back(run, thread);
        run(0);
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace structlearn
