#pragma once

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "dual_block.hpp"
#include "face.hpp"
#include "planes.hpp"

namespace structlearn {

// How far a solve got.
struct SolveReport {
    std::int64_t passes;
    double gap;      // primal − dual of the problem restricted to the working sets, at the final w
    bool unbounded;  // the dual has no maximum: no w meets the constraints of a hard margin
};

// A zeroed vector over all weights, made when first used and not copied. calloc leaves untouched pages unmapped.
class Scratch {
public:
    explicit Scratch(std::int64_t size) : size_(size) {}
    Scratch(const Scratch& other) : size_(other.size_) {}
    Scratch& operator=(const Scratch&) = delete;
    double* get() {
        if (!data_) data_.reset(static_cast<double*>(std::calloc(static_cast<std::size_t>(std::max<std::int64_t>(size_, 1)), 8)));
        if (!data_) throw std::bad_alloc();
        return data_.get();
    }

private:
    struct Free {
        void operator()(double* data) const { std::free(data); }
    };
    std::int64_t size_;
    std::unique_ptr<double, Free> data_;
};

// The dual of a structural SVM restricted to working sets of planes, one block an example:
//
//   max_α  Σ_ik b_ik α_ik − ½ ‖w‖² − ½ Σ_i r_i σ_i²    with  w = Σ_ik α_ik a_ik row_ik,  σ_i = Σ_k α_ik,
//   α ≥ 0,  σ_i ≤ u_i   (u_i = ∞ for squared slacks and the hard margin).
//
// A visit to a block computes its violations at w, improves its multipliers with the Gram matrix at hand (see DualBlock),
// and changes w once. `Store` holds the planes, see planes.hpp.
template <class Store>
class WorkingSets {
public:
    using Plane = typename Store::Plane;

    WorkingSets(Store store, std::int64_t n_blocks, std::int64_t n_weights)
        : store_(std::move(store)), n_weights_(n_weights), blocks_(static_cast<std::size_t>(n_blocks)), scratch_(n_weights) {}

    std::int64_t n_blocks() const { return static_cast<std::int64_t>(blocks_.size()); }
    std::int64_t n_planes(std::int64_t i) const { return blocks_[i].dual.size(); }
    std::int64_t n_weights() const { return n_weights_; }
    const DualBlock& dual(std::int64_t i) const { return blocks_[i].dual; }
    DualBlock& dual(std::int64_t i) { return blocks_[i].dual; }
    void set_alpha(std::int64_t i, std::span<const double> alpha) {
        blocks_[i].dual.alpha.assign(alpha.begin(), alpha.end());
    }

    // Multipliers that exceed a smaller budget are scaled into it.
    void set_limits(std::span<const double> u, std::span<const double> r) {
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            DualBlock& dual = blocks_[i].dual;
            dual.u = u[i];
            dual.r = r[i];
            const double sigma = dual.sigma();
            if (sigma > dual.u)
                for (double& alpha : dual.alpha) alpha *= dual.u / sigma;
        }
    }

    // Adds a plane with α = 0 and returns true, or returns false if the block already has the same one.
    bool add(std::int64_t i, Plane plane, double a, double b) {
        auto& [planes, dual] = blocks_[i];
        for (std::int64_t k = 0; k < dual.size(); ++k)
            if (dual.a[k] == a && dual.b[k] == b && store_.same(i, store_.plane(i, planes, k), plane)) return false;
        store_.push(i, planes, plane);
        dual.push(a, b);
        return true;
    }

    // The largest b − a⟨w, row⟩ of each block, and which plane has it; 0 and −1 for the truth.
    void violations(const double* w, double* largest, std::int64_t* which) const {
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            which[i] = -1;
            largest[i] = largest_violation(static_cast<std::int64_t>(i), w, &which[i]);
        }
    }

    double largest_violation(std::int64_t i, const double* w, std::int64_t* which = nullptr) const {
        double largest = 0.0;
        for (std::int64_t k = 0; k < n_planes(i); ++k) {
            const double here = violation(i, k, w);
            if (here <= largest) continue;
            largest = here;
            if (which) *which = k;
        }
        return largest;
    }

    // Σ b α − ½ Σ r σ²; the dual is this minus ½‖w‖².
    double linear_part() const {
        double sum = 0.0;
        for (const Block& block : blocks_) {
            const DualBlock& dual = block.dual;
            sum += std::inner_product(dual.alpha.begin(), dual.alpha.end(), dual.b.begin(), 0.0);
            if (dual.r > 0.0) sum -= 0.5 * dual.r * dual.sigma() * dual.sigma();
        }
        return sum;
    }

    // w += Σ α a row
    void weights(double* w) const {
        for (std::int64_t i = 0; i < n_blocks(); ++i)
            for (std::int64_t k = 0; k < n_planes(i); ++k)
                if (blocks_[i].dual.alpha[k] != 0.0) add_row(i, k, blocks_[i].dual.alpha[k], w);
    }

    // w += factor · a row, for one plane.
    void add_row(std::int64_t i, std::int64_t k, double factor, double* w) const {
        factor *= blocks_[i].dual.a[k];
        store_.each(i, blocks_[i].planes, k, [=](std::int64_t index, double value) { w[index] += factor * value; });
    }

    // ⟨w, row⟩ of one plane.
    double dot(std::int64_t i, std::int64_t k, const double* w) const {
        double sum = 0.0;
        store_.each(i, blocks_[i].planes, k, [&](std::int64_t index, double value) { sum += value * w[index]; });
        return sum;
    }

    // b − a⟨w, row⟩ of one plane.
    double violation(std::int64_t i, std::int64_t k, const double* w) const {
        return blocks_[i].dual.b[k] - blocks_[i].dual.a[k] * dot(i, k, w);
    }

    double squared_norm(const double* w) const { return std::inner_product(w, w + n_weights_, w, 0.0); }

    // Improves the given blocks one after another and carries each change into w. `gaps` receives what each block
    // contributed to primal − dual before its visit. Returns false as soon as a block is unbounded.
    bool improve(std::span<const std::int64_t> which, double* w, double* gaps) {
        for (std::size_t k = 0; k < which.size(); ++k) {
            gaps[k] = 0.0;
            if (!visit(which[k], w, &gaps[k])) return false;
        }
        return true;
    }

    // Passes over all blocks, in random order, until primal − dual ≤ relative × primal on the restricted problem.
    SolveReport solve(double* w, double relative, std::int64_t max_passes, std::uint64_t seed) {
        std::mt19937_64 random(seed);
        std::vector<std::int64_t> order;
        for (std::int64_t i = 0; i < n_blocks(); ++i)
            if (n_planes(i) > 0) order.push_back(i);
        if (order.empty()) return {0, 0.0, false};
        const bool bounded = std::isfinite(blocks_[0].dual.u);
        const bool hard = !bounded && blocks_[0].dual.r == 0.0;
        double gap = 0.0;
        std::int64_t pass = 0;
        std::int64_t next_face = 16;
        while (pass < max_passes) {
            ++pass;
            shuffle(order, random);
            double seen = 0.0;
            for (const std::int64_t i : order)
                if (!visit(i, w, &seen)) return {pass, std::numeric_limits<double>::infinity(), true};
            if (!bounded) stretch(w);
            // Pairwise steps are at their best at first; where they turn out slow, conjugate gradients help, in rounds that
            // cost about as much as all passes so far.
            if (pass == next_face) {
                const int steps = static_cast<int>(std::min<std::int64_t>(pass, 60));
                for (std::int64_t spent = 0; spent < pass && ascend_on_face(*this, w, steps); spent += steps) {}
                next_face *= 2;
            }
            const double dual = linear_part() - 0.5 * squared_norm(w);
            if (!hard && seen > relative * (dual + seen) && pass < max_passes) continue;
            gap = restricted_gap(w, dual, hard);
            if (gap <= relative * (dual + gap)) break;
        }
        count_idle();
        return {pass, gap, false};
    }

    // Maximises the dual over one block as if it were alone, from its Gram matrix; w is not involved.
    double solve_alone(std::int64_t i, double relative, std::int64_t max_rounds) {
        complete_products(i);
        DualBlock& block = blocks_[i].dual;
        const std::int64_t m = block.size();
        double gap = 0.0;
        for (std::int64_t round = 0; round < max_rounds; ++round) {
            violations_ = block.b;
            double dual = 0.0;
            for (std::int64_t k = 0; k < m; ++k)
                violations_[k] -= std::inner_product(block.alpha.begin(), block.alpha.end(), block.products(k), 0.0);
            for (std::int64_t k = 0; k < m; ++k) dual += 0.5 * block.alpha[k] * (block.b[k] + violations_[k]);
            gap = block.gap(violations_);
            if (gap <= relative * (dual + gap) || !block.ascend(violations_)) break;
            if (round % 10 == 9)
                for (int step = 0; step < 20 && ascend_alone_on_face(block); ++step) {}
        }
        count_idle();
        return gap;
    }

    // The planes that have α = 0 count one more idle turn.
    void count_idle() {
        for (Block& block : blocks_)
            for (std::size_t k = 0; k < block.dual.alpha.size(); ++k)
                block.dual.idle[k] = block.dual.alpha[k] > 0.0 ? 0 : block.dual.idle[k] + 1;
    }

    // The same where α plays no part: `which` was of use, one a block, −1 for none.
    void mark_used(const std::int64_t* which) {
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            auto& idle = blocks_[i].dual.idle;
            for (std::size_t k = 0; k < idle.size(); ++k)
                idle[k] = static_cast<std::int64_t>(k) == which[i] ? 0 : idle[k] + 1;
        }
    }

    // Forgets planes that were idle more than `limit` times in a row; returns how many.
    std::int64_t drop_idle(std::int64_t limit) {
        std::int64_t dropped = 0;
        std::vector<std::int64_t> kept;
        for (std::int64_t i = 0; i < n_blocks(); ++i) {
            auto& [planes, dual] = blocks_[i];
            kept.clear();
            for (std::int64_t k = 0; k < dual.size(); ++k)
                if (dual.idle[k] <= limit) kept.push_back(k);
            const std::int64_t gone = dual.size() - static_cast<std::int64_t>(kept.size());
            if (gone == 0) continue;
            dropped += gone;
            typename Store::Block remaining;
            for (const std::int64_t k : kept) store_.push(i, remaining, store_.plane(i, planes, k));
            planes = std::move(remaining);
            dual.keep(kept);
        }
        return dropped;
    }

    // The norm of the longest row.
    double radius() {
        double largest = 0.0;
        for (std::int64_t i = 0; i < n_blocks(); ++i) {
            complete_products(i);
            const DualBlock& dual = blocks_[i].dual;
            for (std::int64_t k = 0; k < dual.size(); ++k)
                if (dual.a[k] != 0.0) largest = std::max(largest, dual.products(k)[k] / (dual.a[k] * dual.a[k]));
        }
        return std::sqrt(largest);
    }

    // Fills in the inner products of the planes that came since the last visit: a row is spread out over the weights and
    // the others are read against it.
    void complete_products(std::int64_t i) {
        auto& [planes, dual] = blocks_[i];
        if (dual.known_products() == dual.size()) return;
        double* spread = scratch_.get();
        for (std::int64_t k = dual.known_products(); k < dual.size(); ++k) {
            row_.resize(static_cast<std::size_t>(k) + 1);
            store_.each(i, planes, k, [=](std::int64_t index, double value) { spread[index] += value; });
            for (std::int64_t l = 0; l <= k; ++l) row_[l] = dual.a[k] * dual.a[l] * dot(i, l, spread);
            store_.each(i, planes, k, [=](std::int64_t index, double) { spread[index] = 0.0; });
            dual.add_products(row_);
        }
    }

    std::size_t nbytes() const {
        std::size_t sum = blocks_.capacity() * sizeof(Block);
        for (const Block& block : blocks_) sum += block.planes.nbytes() + block.dual.nbytes();
        return sum;
    }

private:
    struct Block {
        typename Store::Block planes;
        DualBlock dual;
    };

    void measure(std::int64_t i, const double* w) {
        violations_.resize(static_cast<std::size_t>(n_planes(i)));
        for (std::int64_t k = 0; k < n_planes(i); ++k) violations_[k] = violation(i, k, w);
    }

    bool visit(std::int64_t i, double* w, double* seen) {
        complete_products(i);
        measure(i, w);
        DualBlock& dual = blocks_[i].dual;
        *seen += dual.gap(violations_);
        before_ = dual.alpha;
        if (!dual.ascend(violations_)) return false;
        for (std::int64_t k = 0; k < dual.size(); ++k)
            if (dual.alpha[k] != before_[k]) add_row(i, k, dual.alpha[k] - before_[k], w);
        return true;
    }

    // Without a budget all of α may be scaled by the t that maximises the dual; on data that cannot be separated this
    // lets the dual of the hard margin grow by factors instead of by steps.
    void stretch(double* w) {
        double linear = 0.0;
        double quadratic = squared_norm(w);
        for (const Block& block : blocks_) {
            const DualBlock& dual = block.dual;
            linear += std::inner_product(dual.alpha.begin(), dual.alpha.end(), dual.b.begin(), 0.0);
            quadratic += dual.r * dual.sigma() * dual.sigma();
        }
        if (!(linear > 0.0 && quadratic > 0.0)) return;
        const double t = linear / quadratic;
        for (Block& block : blocks_)
            for (double& alpha : block.dual.alpha) alpha *= t;
        for (std::int64_t k = 0; k < n_weights_; ++k) w[k] *= t;
    }

    double restricted_gap(const double* w, double dual, bool hard) {
        double gap = 0.0;
        double largest = minus_infinity;
        for (std::int64_t i = 0; i < n_blocks(); ++i) {
            measure(i, w);
            for (const double here : violations_) largest = std::max(largest, here);
            gap += blocks_[i].dual.gap(violations_);
        }
        if (!hard) return gap;
        // The primal of a hard margin is that of w/γ, γ the smallest margin; without a margin there is none yet.
        const double margin = 1.0 - largest;
        if (margin <= 0.0) return std::numeric_limits<double>::infinity();
        return 0.5 * squared_norm(w) / (margin * margin) - dual;
    }

    // std::shuffle is not the same on every platform; this is.
    static void shuffle(std::vector<std::int64_t>& order, std::mt19937_64& random) {
        for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random() % k]);
    }

    Store store_;
    std::int64_t n_weights_;
    std::vector<Block> blocks_;
    Scratch scratch_;
    std::vector<double> violations_;
    std::vector<double> before_;
    std::vector<double> row_;
};

}  // namespace structlearn
