#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

namespace structlearn {

// Works on the items [begin, end) in one thread.
using Piece = std::function<void(std::int64_t begin, std::int64_t end, int thread)>;
void parallel_pieces(std::int64_t n_items, int n_threads, const Piece& work);

// Calls work(item, thread) for every item of [0, n_items). Items must be independent of one another, so that
// the result is the same for any number of threads. Threads sleep between calls; a forked process makes new ones.
// The first exception thrown by a worker reaches the caller after all threads have stopped.
//
// What threads are about is compiled once for all kinds of work, and each of these once.
template <class Work>
void parallel_for(std::int64_t n_items, int n_threads, Work&& work) {
    const auto piece = [&](std::int64_t begin, std::int64_t end, int thread) {
        for (std::int64_t item = begin; item < end; ++item) work(item, thread);
    };
    parallel_pieces(n_items, n_threads, std::ref(piece));
}

// Calls work(thread) in so many threads at once, the caller being thread 0, and returns when all have ended. What one throws
// reaches the caller.
void in_threads(int n_threads, const std::function<void(int)>& work);

// Lets a moment pass for another thread: the n-th time in a row.
inline void relax(int n) {
    if (n > 256) return std::this_thread::yield();
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Work in a thread of its own, beside the caller.
class Beside {
public:
    Beside();
    ~Beside();  // waits
    void start(std::function<void()> work);
    // Returns when the work has ended, if there is any, and throws what it threw.
    void wait();

private:
    struct Task;
    std::unique_ptr<Task> task_;
};

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
