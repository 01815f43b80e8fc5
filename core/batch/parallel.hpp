#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
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

// What each thread works with: copies of a prototype.
template <class Worker>
class Workers {
public:
    Workers(int n_threads, const Worker& prototype)
        : workers_(static_cast<std::size_t>(std::max(n_threads, 1)), prototype) {}

    // Calls work(item, worker) for every item of [0, n_items), see parallel_for.
    template <class Work>
    void run(std::int64_t n_items, Work&& work) {
        parallel_for(n_items, static_cast<int>(workers_.size()), [&](std::int64_t item, int thread) {
            work(item, workers_[static_cast<std::size_t>(thread)]);
        });
    }

    Worker& first() { return workers_.front(); }

private:
    std::vector<Worker> workers_;
};

// Calls work(k, i, worker) for every chosen example i = examples[k].
template <class Worker, class Work>
void for_each_example(std::span<const std::int64_t> examples, int n_threads, const Worker& prototype, Work&& work) {
    Workers<Worker>(n_threads, prototype)
        .run(static_cast<std::int64_t>(examples.size()), [&](std::int64_t k, Worker& worker) {
            work(k, examples[static_cast<std::size_t>(k)], worker);
        });
}

}  // namespace structlearn
