#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "batch/parallel.hpp"
#include "dual/block.hpp"
#include "dual/nonnegative.hpp"
#include "dual/products.hpp"
#include "dual/saved_sets.hpp"
#include "linear/sparse.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// The dual of a structural SVM restricted to working sets of planes, one block an example:
//
//   max_α  Σ_ik b_ik α_ik − ½ ‖w‖² − ½ Σ_i r_i σ_i²    with  w = Σ_ik α_ik a_ik row_ik,  σ_i = Σ_k α_ik,
//   α ≥ 0,  σ_i ≤ u_i   (u_i = ∞ for squared slacks and the hard margin);  one block more is in w where weights must be ≥ 0
//   (see Nonnegative).
//
// A visit to a block computes its violations at w, improves its multipliers with the Gram matrix at hand (see DualBlock),
// and changes w once. How visits add up to a solution is the business of dual/restricted.hpp.
//
// `Store` says how planes are held. It has a `Block` of planes for each example and answers for whole blocks, so that it can
// share work between planes:  dots(i, block, w, out) writes ⟨w, row⟩ of every plane, add(i, block, coefficients, w) adds
// Σ coefficient · row to w, products(i, block, k, scratch, out) writes the inner products of plane k with all of them;
// push, same and keep are about the planes themselves; write(i, block, k, out) appends a plane to flat arrays of the type
// Written, which saved_planes.hpp reads again.
template <class Store>
class WorkingSets {
public:
    using Plane = typename Store::Plane;

    // What work on blocks takes: each thread has its own.
    struct Workspace {
        Workspace(Store store, std::int64_t n_weights) : store(std::move(store)), scratch(n_weights) {}
        Store store;
        Scratch scratch;
        std::vector<double> violations, earlier, change, row, scaled;
        std::vector<std::int64_t> kept;
    };

    WorkingSets(Store store, std::int64_t n_blocks, std::int64_t n_weights)
        : n_weights_(n_weights), blocks_(static_cast<std::size_t>(n_blocks)), seen_(blocks_.size()), own_(std::move(store), n_weights) {}

    std::int64_t n_blocks() const { return static_cast<std::int64_t>(blocks_.size()); }
    std::int64_t n_planes(std::int64_t i) const { return blocks_[i].dual.size(); }
    std::int64_t n_weights() const { return n_weights_; }
    std::vector<std::int64_t> sizes() const {
        std::vector<std::int64_t> sizes;
        for (std::int64_t i = 0; i < n_blocks(); ++i) sizes.push_back(n_planes(i));
        return sizes;
    }
    Store& store() { return own_.store; }
    Workspace& workspace() { return own_; }
    // For a second thread: what it works with, and room for a copy of w. Both have vectors over all weights, which would have to
    // come into being anew in each pass.
    Workspace& second() { return second_ ? *second_ : second_.emplace(own_); }
    std::vector<double>& spare() { return spare_; }
    const DualBlock& dual(std::int64_t i) const { return blocks_[i].dual; }
    DualBlock& dual(std::int64_t i) { return blocks_[i].dual; }
    void set_alpha(std::int64_t i, std::span<const double> alpha) {
        std::ranges::copy(alpha, blocks_[i].dual.alpha().begin());
    }

    // More weights have come into being; those that there were keep their places.
    void grow(std::int64_t n_weights) {
        if (n_weights <= n_weights_) return;
        n_weights_ = n_weights;
        own_.scratch.grow(n_weights);
        second_.reset();
    }

    // Multipliers that exceed a smaller budget are scaled into it.
    void set_limits(std::span<const double> u, std::span<const double> r) {
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            DualBlock& dual = blocks_[i].dual;
            dual.u = u[i];
            dual.r = r[i];
            const double sigma = dual.sigma();
            if (sigma > dual.u)
                for (double& alpha : dual.alpha()) alpha *= dual.u / sigma;
        }
    }

    // All multipliers and their limits times a factor.
    void scale(double factor) {
        for (Block& block : blocks_) {
            DualBlock& dual = block.dual;
            for (double& alpha : dual.alpha()) alpha *= factor;
            dual.u *= factor;
            dual.r /= factor;
        }
    }

    // The weights that must be ≥ 0. A point of the run is made anew by `weights` then.
    void set_nonnegative(std::span<const std::int64_t> which) { nonnegative_.set(which, n_weights_); }
    Nonnegative& nonnegative() { return nonnegative_; }

    // Adds a plane with α = 0 and returns true, or returns false if the block already has the same one.
    bool add(std::int64_t i, Plane plane, double a, double b) {
        auto& [planes, dual] = blocks_[i];
        for (std::int64_t k = 0; k < dual.size(); ++k)
            if (dual.a()[k] == a && dual.b()[k] == b && own_.store.same(i, planes, k, plane)) return false;
        const std::size_t before = joined_nbytes(blocks_[i]);
        own_.store.push(i, planes, plane);
        dual.push(a, b);
        counted_ += joined_nbytes(blocks_[i]) - before;
        return true;
    }

    // Keeps the first plane of every block, whatever its multiplier.
    void pin_first() { first_is_pinned_ = true; }
    // Another plane in place of the first one of a block, with its multiplier; what that does to w is the caller's business.
    void replace_first(std::int64_t i, const Plane& plane, double b) {
        auto& [planes, dual] = blocks_[i];
        own_.store.replace_first(planes, plane);
        own_.row.resize(static_cast<std::size_t>(dual.size()));
        own_.store.products(i, planes, 0, own_.scratch, own_.row.data());
        for (std::int64_t l = 0; l < dual.size(); ++l) own_.row[l] *= dual.a()[0] * dual.a()[l];
        dual.replace_first(b, own_.row);
    }

    // Adds plane(k) to the block of examples[k] for every k = which[j]; returns how many were new.
    template <class MakePlane>
    std::int64_t add_all(std::span<const std::int64_t> examples, std::span<const std::int64_t> which,
                         std::span<const double> a, std::span<const double> b, MakePlane&& plane) {
        std::int64_t added = 0;
        for (std::size_t j = 0; j < which.size(); ++j) added += add(examples[which[j]], plane(which[j]), a[j], b[j]);
        return added;
    }

    // The truth of an example has moved in weight space: `shift` joins every row of its block. Multipliers stay, so the dual
    // keeps a feasible point; w = Σ α a row changes.
    void rebase(std::int64_t i, const Plane& shift) {
        own_.store.rebase(blocks_[i].planes, shift);
        counted_ = unknown;
        blocks_[i].dual.forget_products();
    }
    void rebase(const SparseRows& shifts) {
        for (std::int64_t i = 0; i < n_blocks(); ++i)
            if (shifts.rows.size(i) > 0) rebase(i, shifts[i]);
    }

    // The largest b − a⟨w, row⟩ of each block and which plane has it, 0 and −1 for the truth; and Σ α (b − a⟨w, row⟩) − ½ r σ²,
    // which is what the block's slack term exceeds by its gap.
    void violations(const double* w, double* largest, std::int64_t* which, double* covered, int n_threads) {
        Workers<Workspace>(n_threads, own_).run(n_blocks(), [&](std::int64_t i, Workspace& with) {
            largest[i] = largest_violation(i, w, &which[i], with);
            covered[i] = blocks_[i].dual.covered(with.violations);
        });
    }

    double largest_violation(std::int64_t i, const double* w, std::int64_t* which, Workspace& with) {
        measure(i, w, with.violations, with);
        const auto top = std::ranges::max_element(with.violations);
        const bool violated = top != with.violations.end() && *top > 0.0;
        if (which) *which = violated ? top - with.violations.begin() : -1;
        return violated ? *top : 0.0;
    }
    double largest_violation(std::int64_t i, const double* w) { return largest_violation(i, w, nullptr, own_); }

    // The cutting plane that has weights[i] of the plane which[i] of every block, −1 for none: adds its row to the gradient,
    // writes what each block gives to its a, and returns its b.
    double cut(std::span<const std::int64_t> which, std::span<const double> weights, double* gradient,
               double* coefficients) {
        double offset = 0.0;
        std::vector<double> factors;
        for (std::int64_t i = 0; i < n_blocks(); ++i) {
            const std::int64_t k = which[i];
            if (k < 0 || weights[i] == 0.0) continue;
            factors.assign(static_cast<std::size_t>(n_planes(i)), 0.0);
            factors[k] = weights[i];
            add_rows(i, factors.data(), gradient);
            offset += weights[i] * dual(i).b()[k];
            coefficients[i] = weights[i] * dual(i).a()[k];
        }
        return offset;
    }

    // Σ b α − ½ Σ r σ²; the dual is this minus ½‖w‖².
    double linear_part() const {
        double sum = 0.0;
        for (const Block& block : blocks_) {
            const DualBlock& dual = block.dual;
            sum += std::inner_product(dual.alpha().begin(), dual.alpha().end(), dual.b().begin(), 0.0);
            if (dual.r > 0.0) sum -= 0.5 * dual.r * dual.sigma() * dual.sigma();
        }
        return sum;
    }

    // w += Σ α a row, for a w that has none of it yet, clipped where it must be ≥ 0.
    void weights(double* w) {
        for (std::int64_t i = 0; i < n_blocks(); ++i) add_rows(i, blocks_[i].dual.alpha().data(), w);
        nonnegative_.begin(w);
    }

    // w += Σ_k factors[k] a row over the planes of one block.
    void add_rows(std::int64_t i, const double* factors, double* w, Workspace& with) {
        const auto& [planes, dual] = blocks_[i];
        with.scaled.resize(static_cast<std::size_t>(dual.size()));
        for (std::int64_t k = 0; k < dual.size(); ++k) with.scaled[k] = factors[k] * dual.a()[k];
        add_scaled_rows(i, with.scaled.data(), w, with);
    }
    void add_rows(std::int64_t i, const double* factors, double* w) { add_rows(i, factors, w, own_); }
    void add_scaled_rows(std::int64_t i, const double* coefficients, double* w, Workspace& with) {
        with.store.add(i, blocks_[i].planes, coefficients, w);
    }
    void add_scaled_rows(std::int64_t i, const double* coefficients, double* w) { add_scaled_rows(i, coefficients, w, own_); }

    // a⟨w, row⟩ of every plane of one block.
    void scaled_dots(std::int64_t i, const double* w, std::vector<double>& out, Workspace& with) {
        const auto& [planes, dual] = blocks_[i];
        out.resize(static_cast<std::size_t>(dual.size()));
        with.store.dots(i, planes, w, out.data());
        for (std::int64_t k = 0; k < dual.size(); ++k) out[k] *= dual.a()[k];
    }
    void scaled_dots(std::int64_t i, const double* w, std::vector<double>& out) { scaled_dots(i, w, out, own_); }

    // b − a⟨w, row⟩ of every plane of one block.
    void measure(std::int64_t i, const double* w, std::vector<double>& out, Workspace& with) {
        scaled_dots(i, w, out, with);
        for (std::size_t k = 0; k < out.size(); ++k) out[k] = blocks_[i].dual.b()[k] - out[k];
    }
    void measure(std::int64_t i, const double* w, std::vector<double>& out) { measure(i, w, out, own_); }

    double squared_norm(const double* w) const { return inner_product(n_weights_, w, w); }

    // Improves one block; `dual_value` grows by what that gains. False if the block is unbounded. Afterwards
    // `with.scaled` has the coefficients of the rows that were added to w, and is empty if there were none.
    bool visit(std::int64_t i, double* w, double* dual_value, Workspace& with) {
        with.scaled.clear();
        complete_products(i, with);
        measure(i, w, with.violations, with);
        DualBlock& dual = blocks_[i].dual;
        seen_[i] = dual.gap(with.violations);
        with.change.assign(dual.alpha().begin(), dual.alpha().end());
        with.earlier = with.violations;
        const double spent = dual.sigma();
        // Steps on other blocks will move the optimum of this one anyhow.
        if (!dual.ascend(with.violations, 0.3)) return false;
        bool changed = false;
        for (std::int64_t k = 0; k < dual.size(); ++k) {
            with.change[k] = dual.alpha()[k] - with.change[k];
            changed = changed || with.change[k] != 0.0;
            *dual_value += 0.5 * with.change[k] * (with.earlier[k] + with.violations[k]);
        }
        if (!changed) return true;
        *dual_value -= 0.5 * dual.r * (dual.sigma() * dual.sigma() - spent * spent);
        add_rows(i, with.change.data(), w, with);
        if (nonnegative_.is_due()) *dual_value += nonnegative_.clip(w);
        return true;
    }
    bool visit(std::int64_t i, double* w, double* dual_value) { return visit(i, w, dual_value, own_); }

    // The gap of a block when it was last looked at.
    double seen(std::int64_t i) const { return seen_[i]; }
    void set_seen(std::span<const double> gaps) { seen_.assign(gaps.begin(), gaps.end()); }

    // Looks at one block and returns the largest violation; its gap is `seen` then.
    double look(std::int64_t i, const double* w) {
        measure(i, w, own_.violations);
        seen_[i] = blocks_[i].dual.gap(own_.violations);
        return own_.violations.empty() ? -std::numeric_limits<double>::infinity() : std::ranges::max(own_.violations);
    }

    // Improves the given blocks one after another and carries each change into w. `gaps` receives what each block
    // contributed to primal − dual before its visit. Weights that must be ≥ 0 may be below it until `clip`. Returns false as
    // soon as a block is unbounded.
    bool improve(std::span<const std::int64_t> which, double* w, double* gaps) {
        double dual = 0.0;
        for (std::size_t k = 0; k < which.size(); ++k) {
            if (!visit(which[k], w, &dual)) return false;
            gaps[k] = seen_[which[k]];
        }
        return true;
    }

    // Keeps the planes of a block for which wanted(dual, k), and those that are pinned; returns how many went.
    template <class Wanted>
    std::int64_t keep_if(std::int64_t i, Wanted&& wanted, Workspace& with) {
        auto& [planes, dual] = blocks_[i];
        with.kept.clear();
        for (std::int64_t k = 0; k < dual.size(); ++k)
            if (is_pinned(k) || wanted(dual, k)) with.kept.push_back(k);
        const std::int64_t dropped = dual.size() - std::ssize(with.kept);
        if (dropped > 0) {
            with.store.keep(i, planes, with.kept);
            dual.keep(with.kept);
        }
        return dropped;
    }
    bool is_pinned(std::int64_t k) const { return k == 0 && first_is_pinned_; }

    // Fills in the inner products of the planes that came since the last visit.
    void complete_products(std::int64_t i, Workspace& with) {
        auto& [planes, dual] = blocks_[i];
        for (std::int64_t k = dual.known_products(); k < dual.size(); ++k) {
            with.row.resize(static_cast<std::size_t>(dual.size()));
            with.store.products(i, planes, k, with.scratch, with.row.data());
            for (std::int64_t l = 0; l <= k; ++l) with.row[l] *= dual.a()[k] * dual.a()[l];
            dual.add_products(with.row);
        }
    }
    void complete_products(std::int64_t i) { complete_products(i, own_); }

    // All multipliers and numbers of the planes; the planes themselves are appended to `planes`.
    SavedDual save(typename Store::Written& planes) const {
        SavedDual saved;
        saved.beta = nonnegative_.beta();
        for (std::int64_t i = 0; i < n_blocks(); ++i) {
            append(saved, blocks_[i].dual);
            for (std::int64_t k = 0; k < n_planes(i); ++k) own_.store.write(i, blocks_[i].planes, k, planes);
        }
        return saved;
    }

    // Puts back what was saved; next_plane(i) is asked for the planes in their order. If it throws, nothing has changed.
    template <class NextPlane>
    void restore(const SavedDualView& saved, NextPlane&& next_plane) {
        check(saved, n_blocks(), nonnegative_.beta().size());
        std::vector<Block> blocks(blocks_.size());
        std::size_t plane = 0;
        std::size_t product = 0;
        for (std::int64_t i = 0; i < n_blocks(); ++i) {
            auto& [planes, dual] = blocks[i];
            dual.u = saved.u[i];
            dual.r = saved.r[i];
            for (std::int64_t k = 0; k < saved.sizes[i]; ++k, ++plane) {
                own_.store.push(i, planes, next_plane(i));
                dual.push(saved.a[plane], saved.b[plane]);
                dual.alpha().back() = saved.alpha[plane];
                dual.idle().back() = saved.idle[plane];
            }
            for (std::int64_t k = 0; k < saved.known[i]; ++k) {
                const auto row = saved.products.subspan(product, static_cast<std::size_t>(k) + 1);
                own_.row.assign(row.begin(), row.end());
                dual.add_products(own_.row);
                product += row.size();
            }
        }
        blocks_ = std::move(blocks);
        counted_ = unknown;
        nonnegative_.set_beta(saved.beta);
    }

    // The memory that the planes take.
    std::size_t nbytes() const {
        std::size_t sum = 0;
        for (const Block& block : blocks_) sum += block.planes.nbytes() + block.dual.nbytes();
        return sum;
    }
    // Whether they take more than that, without what stores keep for speed: when that comes in is a matter of threads. Blocks are
    // gone through only if what has joined since the last time may be too much.
    bool exceeds(std::size_t most) {
        if (counted_ <= most) return false;
        counted_ = 0;
        for (const Block& block : blocks_) counted_ += joined_nbytes(block);
        return counted_ > most;
    }
    // What is kept of each block beside its planes.
    static constexpr std::size_t block_nbytes() { return sizeof(Block) + sizeof(double); }

private:
    struct Block {
        typename Store::Block planes;
        DualBlock dual;
    };

    static std::size_t joined_nbytes(const Block& block) {
        std::size_t kept = 0;
        if constexpr (requires { block.planes.kept; }) kept = block.planes.kept.nbytes();
        return block.planes.nbytes() - kept + block.dual.nbytes();
    }

    std::int64_t n_weights_;
    std::vector<Block> blocks_;
    bool first_is_pinned_ = false;
    Nonnegative nonnegative_;
    std::vector<double> seen_;  // the gap of each block when it was last looked at
    Workspace own_;
    std::optional<Workspace> second_;
    std::vector<double> spare_;
    static constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max() / 2;
    std::size_t counted_ = unknown;  // bytes of planes when they were last counted, and of those that have joined since
};

}  // namespace structlearn
