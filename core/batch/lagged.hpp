#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "batch/parallel.hpp"

namespace structlearn {

// Steps on weights, one after another, that threads share: while some are found, those before them are carried into w.
//
// Step k is found at the weights that lack the last `lag` steps before it, and steps are carried into w in their order, by each
// thread into a w of its own. So nothing depends on the number of threads, to the last bit. Each has an `Ascent` of its own, with
//
//     find(item, w, step)         the step on an item at these weights
//     carry(item, step, w, own)   w takes the step, or as much of it as is good; what else the step changes is up to the thread
//                                 that has found it, with `own`
//
// Items must differ.
template <class Ascent>
class LaggedSteps {
public:
    LaggedSteps(std::span<const std::int64_t> items, std::int64_t lag, int n_threads)
        : items_(items),
          lag_(lag),
          slots_(static_cast<std::size_t>(3 * lag + 2 * n_threads)),
          carried_(static_cast<std::size_t>(n_threads)) {}

    // What one of the threads does.
    void run(int thread, Ascent& ascent, double* w) {
        const std::int64_t n = std::ssize(items_);
        std::int64_t carried = 0;
        auto carry_until = [&](std::int64_t end) {
            for (; carried < end && !failed_; carried_[thread].count.store(++carried, std::memory_order_release)) {
                Slot& slot = this->slot(carried);
                if (!wait([&] { return slot.found.load(std::memory_order_acquire) == carried; })) return;
                ascent.carry(items_[carried], slot.step, w, slot.finder == thread);
            }
        };
        for (std::int64_t k; !failed_ && (k = next_.count.fetch_add(1, std::memory_order_relaxed)) < n;) {
            carry_until(k - lag_);
            // All must be done with what the slot had.
            const std::int64_t before = k - std::ssize(slots_);
            for (const Counter& each : carried_)
                if (!wait([&] { return each.count.load(std::memory_order_acquire) > before; })) return;
            Slot& slot = this->slot(k);
            ascent.find(items_[k], w, slot.step);
            slot.finder = thread;
            slot.found.store(k, std::memory_order_release);
        }
        carry_until(n);
    }

    // Ends what the other threads do.
    void fail() { failed_ = true; }

private:
    struct alignas(64) Slot {
        std::atomic<std::int64_t> found{-1};  // the step that it has
        int finder = 0;
        typename Ascent::Step step;
    };
    struct alignas(64) Counter {
        std::atomic<std::int64_t> count{0};
    };

    Slot& slot(std::int64_t k) { return slots_[static_cast<std::size_t>(k % std::ssize(slots_))]; }

    // For what another thread is about to do, in less time than it takes to sleep and to wake up. False if one has failed.
    template <class Holds>
    bool wait(Holds&& holds) const {
        for (int look = 0; !holds(); ++look) {
            if (failed_) return false;
            relax(look);
        }
        return true;
    }

    std::span<const std::int64_t> items_;
    std::int64_t lag_;
    std::vector<Slot> slots_;
    std::vector<Counter> carried_;  // steps, by each thread
    Counter next_;
    std::atomic<bool> failed_{false};
};

// Takes a step on each item in one thread, and one more for each of the copies of w, which are copies afterwards as well.
template <class Ascent>
void take_lagged_steps(std::span<const std::int64_t> items, std::span<double> w, std::span<double> copies, std::int64_t lag,
                       const Ascent& ascent) {
    const int n_threads = w.empty() ? 1 : 1 + static_cast<int>(copies.size() / w.size());
    LaggedSteps<Ascent> steps(items, lag, n_threads);
    in_threads(n_threads, [&](int thread) {
        try {
            Ascent own = ascent;
            steps.run(thread, own, thread == 0 ? w.data() : copies.data() + (thread - 1) * std::ssize(w));
        } catch (...) {
            steps.fail();
            throw;
        }
    });
}

}  // namespace structlearn
