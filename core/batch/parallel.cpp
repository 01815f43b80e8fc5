#include "batch/parallel.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace structlearn {

void parallel_pieces(std::int64_t n_items, int n_threads, const Piece& work) {
    n_threads = static_cast<int>(std::clamp<std::int64_t>(n_items, 1, std::max(n_threads, 1)));
    if (n_threads == 1) return work(0, n_items, 0);
    const std::int64_t grain = std::max<std::int64_t>(1, n_items / (std::int64_t{8} * n_threads));
    std::atomic<std::int64_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    auto run = [&](int thread) {
        try {
            for (;;) {
                const std::int64_t begin = next.fetch_add(grain);
                if (begin >= n_items) return;
                work(begin, std::min(begin + grain, n_items), thread);
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
