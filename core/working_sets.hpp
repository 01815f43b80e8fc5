#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "chain.hpp"
#include "sparse.hpp"

namespace structlearn {

// The planes of one block as sparse rows, one after another.
class SparsePlanes {
public:
    std::int64_t size() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
    SparseRow row(std::int64_t k) const {
        const auto begin = offsets_[k];
        const auto count = offsets_[k + 1] - begin;
        return {{indices_.data() + begin, count}, {values_.data() + begin, count}};
    }
    void push(SparseRow row) {
        indices_.insert(indices_.end(), row.indices.begin(), row.indices.end());
        values_.insert(values_.end(), row.values.begin(), row.values.end());
        offsets_.push_back(indices_.size());
    }
    std::size_t nbytes() const {
        return indices_.capacity() * sizeof(std::int64_t) + values_.capacity() * sizeof(double) +
               offsets_.capacity() * sizeof(std::size_t);
    }

private:
    std::vector<std::size_t> offsets_{0};
    std::vector<std::int64_t> indices_;
    std::vector<double> values_;
};

// How far a solve got.
struct SolveReport {
    std::int64_t passes;
    double gap;      // primal − dual of the problem restricted to the working sets, at the final w
    bool unbounded;  // the dual has no maximum: no w meets the constraints of a hard margin
};

// The dual of a structural SVM restricted to working sets of planes, one block an example:
//
//   max_α  Σ_ik b_ik α_ik − ½ ‖w‖² − ½ Σ_i r_i σ_i²    with  w = Σ_ik α_ik a_ik row_ik,  σ_i = Σ_k α_ik,
//   α ≥ 0,  σ_i ≤ u_i   (u_i = ∞ for squared slacks and the hard margin).
//
// The example's truth is an implicit plane with zero row and b = 0 that holds the rest of the budget, u_i − σ_i.
// A block is improved by moving weight between two of its planes, with the Gram matrix of the block at hand, so that
// a step costs O(planes); w changes once a visit. `Planes` stores rows: size, row(k), push, nbytes.
template <class Planes>
class WorkingSets {
public:
    explicit WorkingSets(std::int64_t n_blocks) : blocks_(static_cast<std::size_t>(n_blocks)) {}

    std::int64_t n_blocks() const { return static_cast<std::int64_t>(blocks_.size()); }
    std::int64_t n_planes(std::int64_t i) const { return blocks_[i].planes.size(); }

    // Multipliers that exceed a smaller budget are scaled into it.
    void set_limits(std::span<const double> u, std::span<const double> r) {
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            Block& block = blocks_[i];
            block.u = u[i];
            block.r = r[i];
            const double sigma = block.sigma();
            if (sigma > block.u)
                for (double& alpha : block.alpha) alpha *= block.u / sigma;
        }
    }

    // Adds a plane with α = 0 and returns true, or returns false if the block already has the same one.
    bool add(std::int64_t i, SparseRow row, double a, double b) {
        Block& block = blocks_[i];
        const std::int64_t m = block.planes.size();
        for (std::int64_t k = 0; k < m; ++k)
            if (block.a[k] == a && block.b[k] == b && same(block.planes.row(k), row)) return false;
        block.planes.push(row);
        block.a.push_back(a);
        block.b.push_back(b);
        block.alpha.push_back(0.0);
        block.idle.push_back(0);
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
        const Block& block = blocks_[i];
        double largest = 0.0;
        for (std::int64_t k = 0; k < block.planes.size(); ++k) {
            const double violation = block.violation(k, w);
            if (violation <= largest) continue;
            largest = violation;
            if (which) *which = k;
        }
        return largest;
    }

    // Σ b α − ½ Σ r σ²; the dual is this minus ½‖w‖².
    double linear_part() const {
        double sum = 0.0;
        for (const Block& block : blocks_) {
            for (std::size_t k = 0; k < block.alpha.size(); ++k) sum += block.b[k] * block.alpha[k];
            if (block.r > 0.0) sum -= 0.5 * block.r * block.sigma() * block.sigma();
        }
        return sum;
    }

    // w = Σ α a row
    void weights(double* w) const {
        for (const Block& block : blocks_)
            for (std::int64_t k = 0; k < block.planes.size(); ++k)
                if (block.alpha[k] != 0.0) add_scaled(block.planes.row(k), block.alpha[k] * block.a[k], w);
    }

    void scale(double factor) {
        for (Block& block : blocks_)
            for (double& alpha : block.alpha) alpha *= factor;
    }

    // Improves one block at w and carries the change into w. Returns false if the block is unbounded.
    bool improve(std::int64_t i, double* w) { return visit(blocks_[i], w, nullptr); }

    // Passes over all blocks, in random order, until primal − dual ≤ relative × primal on the restricted problem.
    SolveReport solve(double* w, std::int64_t n_weights, double relative, std::int64_t max_passes, std::uint64_t seed) {
        std::mt19937_64 random(seed);
        std::vector<std::int64_t> order;
        for (std::int64_t i = 0; i < n_blocks(); ++i)
            if (n_planes(i) > 0) order.push_back(i);
        if (order.empty()) return {0, 0.0, false};
        const bool bounded = std::isfinite(blocks_[0].u);
        const bool hard = !bounded && blocks_[0].r == 0.0;
        double gap = 0.0;
        std::int64_t pass = 0;
        while (pass < max_passes) {
            ++pass;
            shuffle(order, random);
            double seen = 0.0;
            for (const std::int64_t i : order)
                if (!visit(blocks_[i], w, &seen)) return {pass, std::numeric_limits<double>::infinity(), true};
            if (!bounded) stretch(w, n_weights);
            const double dual = linear_part() - 0.5 * squared_norm(w, n_weights);
            if (!hard && seen > relative * (dual + seen) && pass < max_passes) continue;
            gap = restricted_gap(w, n_weights, dual, hard);
            if (gap <= relative * (dual + gap)) break;
        }
        count_idle();
        return {pass, gap, false};
    }

    // Maximises the dual over one block as if it were alone, from its Gram matrix; w is not involved.
    double solve_alone(std::int64_t i, double relative, std::int64_t max_rounds) {
        Block& block = blocks_[i];
        block.complete_gram();
        const std::int64_t m = block.planes.size();
        double gap = 0.0;
        for (std::int64_t round = 0; round < max_rounds; ++round) {
            violations_ = block.b;
            double dual = 0.0;
            for (std::int64_t k = 0; k < m; ++k)
                for (std::int64_t l = 0; l < m; ++l) violations_[k] -= block.inner_product(k, l) * block.alpha[l];
            for (std::int64_t k = 0; k < m; ++k) dual += 0.5 * block.alpha[k] * (block.b[k] + violations_[k]);
            gap = block_gap(block, violations_);
            if (gap <= relative * (dual + gap) || !ascend(block)) break;
        }
        count_idle();
        return gap;
    }

    // Marks the planes that were of use, where no solve does: one a block, −1 for none.
    void mark_used(const std::int64_t* which) {
        for (std::size_t i = 0; i < blocks_.size(); ++i)
            for (std::size_t k = 0; k < blocks_[i].idle.size(); ++k)
                blocks_[i].idle[k] = static_cast<std::int64_t>(k) == which[i] ? 0 : blocks_[i].idle[k] + 1;
    }

    // Forgets planes that were idle more than `limit` times in a row; returns how many.
    std::int64_t drop_idle(std::int64_t limit) {
        std::int64_t dropped = 0;
        for (Block& block : blocks_) {
            std::vector<std::int64_t> kept;
            for (std::int64_t k = 0; k < block.planes.size(); ++k)
                if (block.idle[k] <= limit) kept.push_back(k);
            dropped += block.planes.size() - static_cast<std::int64_t>(kept.size());
            if (static_cast<std::int64_t>(kept.size()) < block.planes.size()) block = block.only(kept);
        }
        return dropped;
    }

    // The norm of the longest row.
    double radius() const {
        double largest = 0.0;
        for (const Block& block : blocks_)
            for (std::int64_t k = 0; k < block.planes.size(); ++k)
                largest = std::max(largest, inner(block.planes.row(k), block.planes.row(k)));
        return std::sqrt(largest);
    }

    std::size_t nbytes() const {
        std::size_t sum = 0;
        for (const Block& block : blocks_)
            sum += block.planes.nbytes() + block.gram.capacity() * sizeof(double) + 4 * block.alpha.capacity() * 8;
        return sum;
    }

    std::span<const double> alpha(std::int64_t i) const { return blocks_[i].alpha; }
    std::span<const double> offsets(std::int64_t i) const { return blocks_[i].b; }
    // The packed lower triangle of a block's Gram matrix: entry (k, l ≤ k) at k(k + 1)/2 + l.
    std::span<const double> gram(std::int64_t i) {
        blocks_[i].complete_gram();
        return blocks_[i].gram;
    }
    void set_alpha(std::int64_t i, std::span<const double> alpha) {
        blocks_[i].alpha.assign(alpha.begin(), alpha.end());
    }
    SparseRow row(std::int64_t i, std::int64_t k) const { return blocks_[i].planes.row(k); }
    double a(std::int64_t i, std::int64_t k) const { return blocks_[i].a[k]; }
    double b(std::int64_t i, std::int64_t k) const { return blocks_[i].b[k]; }

private:
    struct Block {
        Planes planes;
        std::vector<double> a, b, alpha;
        std::vector<double> gram;        // packed lower triangle of a_k a_l ⟨row_k, row_l⟩
        std::vector<std::int64_t> idle;  // times in a row the plane had α = 0 or was not marked as used
        double u = 0.0;
        double r = 0.0;

        // The Gram matrix is filled when it is first needed: a store of planes that is only looked up never pays for it.
        void complete_gram() {
            const std::int64_t m = planes.size();
            std::int64_t known = static_cast<std::int64_t>((std::sqrt(8.0 * static_cast<double>(gram.size()) + 1.0) - 1.0) / 2.0);
            for (; known < m; ++known)
                for (std::int64_t l = 0; l <= known; ++l)
                    gram.push_back(a[known] * a[l] * inner(planes.row(known), planes.row(l)));
        }
        double inner_product(std::int64_t k, std::int64_t l) const {
            return k >= l ? gram[k * (k + 1) / 2 + l] : gram[l * (l + 1) / 2 + k];
        }
        double violation(std::int64_t k, const double* w) const { return b[k] - a[k] * dot(planes.row(k), w); }
        double sigma() const { return std::accumulate(alpha.begin(), alpha.end(), 0.0); }
        // ξ's share of the primal when the largest violation is h.
        double slack(double h) const {
            if (std::isfinite(u)) return u * h;
            return r > 0.0 ? h * h / (2.0 * r) : 0.0;
        }
        Block only(const std::vector<std::int64_t>& kept) const {
            const bool gram_known = gram.size() == alpha.size() * (alpha.size() + 1) / 2;
            Block result;
            result.u = u;
            result.r = r;
            for (const std::int64_t k : kept) {
                result.planes.push(planes.row(k));
                result.a.push_back(a[k]);
                result.b.push_back(b[k]);
                result.alpha.push_back(alpha[k]);
                result.idle.push_back(idle[k]);
                if (!gram_known) continue;
                for (const std::int64_t l : kept)
                    if (l <= k) result.gram.push_back(inner_product(k, l));
            }
            return result;
        }
    };

    static bool same(SparseRow left, SparseRow right) {
        return std::equal(left.indices.begin(), left.indices.end(), right.indices.begin(), right.indices.end()) &&
               std::equal(left.values.begin(), left.values.end(), right.values.begin(), right.values.end());
    }

    // std::shuffle is not the same on every platform; this is.
    static void shuffle(std::vector<std::int64_t>& order, std::mt19937_64& random) {
        for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random() % k]);
    }

    static double squared_norm(const double* w, std::int64_t n) { return std::inner_product(w, w + n, w, 0.0); }

    // Without a budget all of α may be scaled by the t that maximises the dual; on data that cannot be separated this
    // lets the dual of the hard margin grow by factors instead of by steps.
    void stretch(double* w, std::int64_t n_weights) {
        double linear = 0.0;
        double quadratic = squared_norm(w, n_weights);
        for (const Block& block : blocks_) {
            linear += std::inner_product(block.alpha.begin(), block.alpha.end(), block.b.begin(), 0.0);
            const double sigma = block.sigma();
            quadratic += block.r * sigma * sigma;
        }
        if (!(linear > 0.0 && quadratic > 0.0)) return;
        const double t = linear / quadratic;
        scale(t);
        for (std::int64_t k = 0; k < n_weights; ++k) w[k] *= t;
    }

    void count_idle() {
        for (Block& block : blocks_)
            for (std::size_t k = 0; k < block.alpha.size(); ++k)
                block.idle[k] = block.alpha[k] > 0.0 ? 0 : block.idle[k] + 1;
    }

    // A block's part of primal − dual at w, given its violations.
    static double block_gap(const Block& block, const std::vector<double>& violations) {
        double largest = 0.0;
        double paid = 0.0;
        for (std::size_t k = 0; k < violations.size(); ++k) {
            largest = std::max(largest, violations[k]);
            paid += block.alpha[k] * violations[k];
        }
        const double sigma = block.sigma();
        return block.slack(largest) - paid + 0.5 * block.r * sigma * sigma;
    }

    double restricted_gap(const double* w, std::int64_t n_weights, double dual, bool hard) {
        double gap = 0.0;
        double largest = minus_infinity;
        for (const Block& block : blocks_) {
            violations_.resize(block.alpha.size());
            for (std::int64_t k = 0; k < block.planes.size(); ++k) {
                violations_[k] = block.violation(k, w);
                largest = std::max(largest, violations_[k]);
            }
            gap += block_gap(block, violations_);
        }
        if (!hard) return gap;
        // The primal of a hard margin is that of w/γ, γ the smallest margin; without a margin there is none yet.
        const double margin = 1.0 - largest;
        if (margin <= 0.0) return std::numeric_limits<double>::infinity();
        return 0.5 * squared_norm(w, n_weights) / (margin * margin) - dual;
    }

    bool visit(Block& block, double* w, double* seen) {
        const std::int64_t m = block.planes.size();
        block.complete_gram();
        violations_.resize(static_cast<std::size_t>(m));
        for (std::int64_t k = 0; k < m; ++k) violations_[k] = block.violation(k, w);
        if (seen) *seen += block_gap(block, violations_);
        before_ = block.alpha;
        if (!ascend(block)) return false;
        for (std::int64_t k = 0; k < m; ++k) {
            const double change = block.alpha[k] - before_[k];
            if (change != 0.0) add_scaled(block.planes.row(k), change * block.a[k], w);
        }
        return true;
    }

    // Pairwise steps with exact line search on one block; violations_ holds b − a⟨w, row⟩ and is kept up to date.
    bool ascend(Block& block) {
        constexpr std::int64_t truth = -1;
        const std::int64_t m = block.planes.size();
        double sigma = block.sigma();
        double first = -1.0;
        for (std::int64_t step = 0; step < 20 + 4 * m; ++step) {
            std::int64_t up = truth;
            std::int64_t down = sigma < block.u ? truth : m;
            double most = 0.0;
            double least = sigma < block.u ? 0.0 : std::numeric_limits<double>::infinity();
            for (std::int64_t k = 0; k < m; ++k) {
                const double gradient = violations_[k] - block.r * sigma;
                if (gradient > most) most = gradient, up = k;
                if (block.alpha[k] > 0.0 && gradient < least) least = gradient, down = k;
            }
            if (down == m || up == down) return true;
            const double gradient = most - least;
            if (first < 0.0) first = gradient;
            if (gradient <= 1e-3 * first && step > 0) return true;
            if (gradient <= 1e-15 * (1.0 + std::abs(most))) return true;

            const double up_norm = up == truth ? 0.0 : block.inner_product(up, up);
            const double down_norm = down == truth ? 0.0 : block.inner_product(down, down);
            const double cross = up == truth || down == truth ? 0.0 : block.inner_product(up, down);
            const bool budget_moves = up == truth || down == truth;
            const double curvature = up_norm + down_norm - 2.0 * cross + (budget_moves ? block.r : 0.0);
            const double available = down == truth ? block.u - sigma : block.alpha[down];
            double move = curvature > 0.0 ? gradient / curvature : std::numeric_limits<double>::infinity();
            const bool whole = move >= available;
            if (whole) move = available;
            if (!std::isfinite(move)) return false;

            if (up != truth) block.alpha[up] += move;
            if (down != truth) block.alpha[down] = whole ? 0.0 : block.alpha[down] - move;
            sigma = down == truth && whole ? block.u : block.sigma();
            for (std::int64_t k = 0; k < m; ++k) {
                double change = 0.0;
                if (up != truth) change -= block.inner_product(k, up);
                if (down != truth) change += block.inner_product(k, down);
                violations_[k] += move * change;
            }
        }
        return true;
    }

    std::vector<Block> blocks_;
    std::vector<double> violations_;
    std::vector<double> before_;
};

}  // namespace structlearn
