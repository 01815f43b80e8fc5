#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "batch/parallel.hpp"
#include "dual/order.hpp"

namespace structlearn {

// Steps on blocks of the dual while the caller asks the oracle for the next examples, in one pass over the data.
//
// The oracle sees the weights that there were before the steps under way, always. With a thread for the steps it has a copy of
// these, which goes through the same changes one step later and in the same order, so that it is the same to the last bit;
// without one the steps wait until it has answered.
template <class Sets>
class Steps {
public:
    // `gaps` are those of the blocks as last seen. With `beside` there is a thread for the steps, and no weight may have a bound.
    Steps(Sets& sets, std::span<const double> gaps, std::uint64_t seed, bool beside)
        : sets_(sets), random_(seed), busy_(gaps.size()), known_(gaps.size()) {
        if (beside) beside_ = &sets.second();
        sets_.set_seen(gaps);
        for (std::size_t i = 0; i < known_.size(); ++i) known_[i] = sets_.n_planes(static_cast<std::int64_t>(i)) > 0;
        choose_all();
        leave_out();
        shuffle_runs(turns_, random_);
    }

    // Steps on the blocks `which`, and then on n_cached of those that have planes, in turn. Until `end` the caller may change the
    // planes of the blocks `next`, which take no part, and nothing else.
    void begin(std::span<const std::int64_t> which, std::int64_t n_cached, std::span<const std::int64_t> next, double* w) {
        which_.assign(which.begin(), which.end());
        for (const std::int64_t i : next_) busy_[i] = false;
        next_.assign(next.begin(), next.end());
        for (const std::int64_t i : next_) busy_[i] = true;
        n_cached_ = n_cached;
        w_ = w;
        if (!beside_) return;
        if (!has_copy_) {
            // Nobody writes to w yet.
            thread_.start([this] { sets_.spare().assign(w_, w_ + sets_.n_weights()); });
            return;
        }
        if (copies_all()) std::copy_n(w_, sets_.n_weights(), sets_.spare().data());
        std::swap(changed_, earlier_);
        changed_.clear();
        running_.store(true);
        thread_.start([this] {
            run();
            running_.store(false);
        });
        follow();
    }

    // The weights before the steps under way.
    const double* before() const { return has_copy_ ? sets_.spare().data() : w_; }

    // Takes work off the steps that come next, as long as those under way last.
    void help() {
        for (std::size_t k = 0; k < next_.size() && running_.load(std::memory_order_relaxed); ++k) sets_.complete_products(next_[k]);
    }

    // Ends the steps, on these weights where they had to wait.
    void end(double* w) {
        if (beside_) {
            thread_.wait();
            has_copy_ = true;
        } else {
            w_ = w;
            run();
        }
    }
    // The copy catches up at once, so that planes of all blocks may go before the next `begin`.
    void settle() {
        if (!beside_ || copies_all()) return;
        std::swap(changed_, earlier_);
        follow();
        changed_.clear();
        earlier_.clear();
    }

    // What the blocks `which` added to primal − dual before them.
    const std::vector<double>& gaps() const { return gaps_; }

    // Nothing is under way afterwards, whatever happened.
    void wait() { thread_.wait(); }

    // How long the steps took.
    double seconds() const { return seconds_; }

private:
    using Clock = std::chrono::steady_clock;

    // What steps have added to w, as coefficients of the rows of blocks.
    struct Changes {
        std::vector<std::int64_t> blocks;
        std::vector<double> coefficients;
        void clear() { blocks.clear(), coefficients.clear(); }
    };

    // With few weights it takes less to copy them than to repeat changes.
    bool copies_all() const { return sets_.n_weights() < (1 << 15); }

    void run() {
        const auto begin = Clock::now();
        gaps_.clear();
        for (const std::int64_t i : which_) {
            known_[i] = true;
            visit(i);
            gaps_.push_back(sets_.seen(i));
        }
        bool renewed = false;
        for (std::int64_t k = 0; k < n_cached_; ++k) {
            if (at_ == turns_.size()) {
                // As many looks at all gaps as there are chunks, and no more.
                if (std::exchange(renewed, true)) break;
                renew();
                if (turns_.empty()) break;
            }
            if (const std::int64_t i = turns_[at_++]; !busy_[i]) visit(i);
        }
        seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
    }

    void visit(std::int64_t i) {
        double gain = 0.0;
        if (!beside_) {
            sets_.visit(i, w_, &gain);
            return;
        }
        sets_.visit(i, w_, &gain, *beside_);
        const std::vector<double>& added = beside_->scaled;
        if (copies_all() || added.empty()) return;
        changed_.blocks.push_back(i);
        changed_.coefficients.insert(changed_.coefficients.end(), added.begin(), added.end());
    }

    // As long as the last ones had most of the gap, those of them that still have a good part of it take further turns.
    void renew() {
        double all = 0.0, visited = 0.0;
        for (std::size_t i = 0; i < known_.size(); ++i)
            if (known_[i]) all += sets_.seen(static_cast<std::int64_t>(i));
        for (const std::int64_t i : turns_) visited += sets_.seen(i);
        if (visited >= all - visited && !turns_.empty())
            leave_out();
        else
            choose_all();
        shuffle_runs(turns_, random_);
        at_ = 0;
    }

    void choose_all() {
        turns_.clear();
        for (std::size_t i = 0; i < known_.size(); ++i)
            if (known_[i]) turns_.push_back(static_cast<std::int64_t>(i));
    }

    // Of those chosen, the ones with less than the mean gap of all are left out.
    void leave_out() {
        double all = 0.0, n = 0.0;
        for (std::size_t i = 0; i < known_.size(); ++i)
            if (known_[i]) all += sets_.seen(static_cast<std::int64_t>(i)), n += 1.0;
        std::erase_if(turns_, [&](std::int64_t i) { return sets_.seen(i) * n < all; });
    }

    // The copy catches up with the steps before those under way.
    void follow() {
        const double* coefficients = earlier_.coefficients.data();
        for (const std::int64_t i : earlier_.blocks) {
            sets_.add_scaled_rows(i, coefficients, sets_.spare().data());
            coefficients += sets_.n_planes(i);
        }
    }

    Sets& sets_;
    typename Sets::Workspace* beside_ = nullptr;  // what the thread works with, if there is one
    std::mt19937_64 random_;
    std::vector<std::int64_t> which_, next_, turns_;
    std::vector<char> busy_, known_;  // is one of `next`; has planes
    std::size_t at_ = 0;
    std::int64_t n_cached_ = 0;
    double* w_ = nullptr;
    bool has_copy_ = false;
    Changes changed_, earlier_;  // by the steps under way, and by those before
    std::vector<double> gaps_;
    double seconds_ = 0.0;
    std::atomic<bool> running_{false};
    Beside thread_;  // the last member: it ends before the others go
};

}  // namespace structlearn
