#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "dual/face.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Maximises the dual over one block as if it were alone, from its Gram matrix, to a gap of `relative` of the primal.
// Returns the gap that is left.
inline double maximise(DualBlock& block, double relative, std::int64_t max_rounds) {
    const std::int64_t m = block.size();
    std::vector<double> violations;
    double gap = 0.0;
    for (std::int64_t round = 0; round < max_rounds; ++round) {
        violations.assign(block.b().begin(), block.b().end());
        double dual = 0.0;
        for (std::int64_t k = 0; k < m; ++k)
            if (block.alpha()[k] > 0.0) block.add_products_scaled(k, -block.alpha()[k], violations);
        for (std::int64_t k = 0; k < m; ++k) dual += 0.5 * block.alpha()[k] * (block.b()[k] + violations[k]);
        gap = block.gap(violations);
        if (gap <= relative * (dual + gap) || !block.ascend(violations, 1e-3)) break;
        if (round % 3 == 2)
            for (int step = 0; step < 20 && ascend_alone_on_face(block); ++step) {}
    }
    return gap;
}

// Minimises ½‖w‖² + R(w), where R has the slacks of all blocks over their planes, by cutting planes on R as a whole
// (Joachims, Finley, Yu 2009). Where there are few weights and many blocks that disagree about them, steps on one block undo
// those on another; a cut moves all of them at once.
//
// A cut is one dual point of every block, R(v) ≥ b − ⟨row, v⟩ with row = Σ_i σ_i a row_ik and b = Σ_i σ_i b_ik − ½ r_i σ_i², and
// the present multipliers are the first one. So a mixture of cuts is a mixture of such points, and the dual never falls.
// New ones are taken near the best w so far, between it and the minimum under the cuts (Franc and Sonnenburg 2009).
template <class Sets>
class CutAscent {
public:
    CutAscent(Sets& sets, double* w) : sets_(sets), w_(w), offsets_{0} {
        for (std::int64_t i = 0; i < sets.n_blocks(); ++i) offsets_.push_back(offsets_.back() + sets.n_planes(i));
        here_.resize(static_cast<std::size_t>(offsets_.back()));
        block_.u = 1.0;
        Cut present;
        present.row.assign(w, w + sets.n_weights());
        add(std::move(present), sets.linear_part());
        block_.alpha()[0] = 1.0;
        measure();
        best_.assign(w, w + sets.n_weights());
        at_best_ = here_;
    }

    // Passes over all planes until the gap is `relative` of the primal, or eight of them have gained less than `worth` each;
    // at most 64, since the program over the cuts grows with them. Leaves w and the multipliers at the best mixture and
    // returns how many passes there were.
    std::int64_t run(double relative, double worth) {
        std::vector<double> point = here_;
        double earlier = dual_value();
        std::int64_t passes = 0;
        while (passes < 64) {
            add_cut_at(point);
            maximise(block_, 0.1 * relative, 100);
            mix();
            measure();
            ++passes;
            const double dual = dual_value();
            const double primal = 0.5 * squared_norm(w_) + price(here_);
            if (primal - dual <= relative * primal) break;
            if (passes % 8 == 0) {
                if (dual - earlier < 8.0 * worth) break;
                earlier = dual;
            }
            search();
            for (std::size_t k = 0; k < point.size(); ++k) point[k] = at_best_[k] + 0.1 * (here_[k] - at_best_[k]);
        }
        hand_back();
        return passes;
    }

private:
    struct Cut {
        std::vector<double> row;
        std::vector<std::int32_t> planes;  // of every block, −1 for none; empty for the multipliers there were at first
        std::vector<double> weights;       // σ of every block
    };

    double squared_norm(const double* w) const { return sets_.squared_norm(w); }

    void measure() {
        for (std::int64_t i = 0; i < sets_.n_blocks(); ++i) {
            sets_.measure(i, w_, violations_);
            std::ranges::copy(violations_, here_.begin() + offsets_[i]);
        }
    }

    // The largest violation of a block and its plane, 0 and −1 for the truth.
    std::pair<double, std::int32_t> largest(std::int64_t i, const std::vector<double>& violations) const {
        double most = 0.0;
        std::int32_t plane = -1;
        for (std::int64_t k = offsets_[i]; k < offsets_[i + 1]; ++k)
            if (violations[k] > most) most = violations[k], plane = static_cast<std::int32_t>(k - offsets_[i]);
        return {most, plane};
    }

    // R where the planes have these violations.
    double price(const std::vector<double>& violations) const {
        double sum = 0.0;
        for (std::int64_t i = 0; i < sets_.n_blocks(); ++i) sum += sets_.dual(i).slack(largest(i, violations).first);
        return sum;
    }

    static double weight(const DualBlock& block, double most) { return std::isfinite(block.u) ? block.u : most / block.r; }

    void add(Cut cut, double offset) {
        cuts_.push_back(std::move(cut));
        block_.push(1.0, offset);
        products_.clear();
        for (const Cut& other : cuts_)
            products_.push_back(inner_product(sets_.n_weights(), other.row.data(), cuts_.back().row.data()));
        block_.add_products(products_);
    }

    void add_cut_at(const std::vector<double>& violations) {
        Cut cut;
        cut.row.assign(static_cast<std::size_t>(sets_.n_weights()), 0.0);
        double offset = 0.0;
        for (std::int64_t i = 0; i < sets_.n_blocks(); ++i) {
            const DualBlock& block = sets_.dual(i);
            const auto [most, plane] = largest(i, violations);
            cut.planes.push_back(plane);
            cut.weights.push_back(plane < 0 ? 0.0 : weight(block, most));
            if (plane < 0) continue;
            const double sigma = cut.weights.back();
            factors_.assign(static_cast<std::size_t>(block.size()), 0.0);
            factors_[plane] = sigma;
            sets_.add_rows(i, factors_.data(), cut.row.data());
            offset += sigma * block.b()[plane] - 0.5 * block.r * sigma * sigma;
        }
        add(std::move(cut), offset);
    }

    // w = Σ λ row
    void mix() {
        std::fill(w_, w_ + sets_.n_weights(), 0.0);
        for (std::size_t t = 0; t < cuts_.size(); ++t)
            if (block_.alpha()[t] > 0.0)
                for (std::int64_t j = 0; j < sets_.n_weights(); ++j) w_[j] += block_.alpha()[t] * cuts_[t].row[j];
    }

    double dual_value() const {
        double linear = 0.0;
        for (std::size_t t = 0; t < cuts_.size(); ++t) linear += block_.alpha()[t] * block_.b()[t];
        return linear - 0.5 * squared_norm(w_);
    }

    // Moves the best point to the lowest one on the way to the present w.
    void search() {
        std::vector<double> along(best_.size());
        for (std::size_t j = 0; j < along.size(); ++j) along[j] = w_[j] - best_[j];
        const auto n = static_cast<std::int64_t>(along.size());
        const double bend = inner_product(n, along.data(), along.data());
        const double begin = inner_product(n, along.data(), best_.data());
        auto slope = [&](double t) {
            double sum = begin + t * bend;
            for (std::int64_t i = 0; i < sets_.n_blocks(); ++i) {
                double most = 0.0, change = 0.0;
                for (std::int64_t k = offsets_[i]; k < offsets_[i + 1]; ++k) {
                    const double step = here_[k] - at_best_[k];
                    const double violation = at_best_[k] + t * step;
                    if (violation > most) most = violation, change = step;
                }
                if (most > 0.0) sum += weight(sets_.dual(i), most) * change;
            }
            return sum;
        };
        double low = 0.0, high = 1.0;
        for (int halving = 0; halving < 8; ++halving) {
            const double middle = 0.5 * (low + high);
            (slope(middle) > 0.0 ? high : low) = middle;
        }
        for (std::size_t j = 0; j < along.size(); ++j) best_[j] += low * along[j];
        for (std::size_t k = 0; k < here_.size(); ++k) at_best_[k] += low * (here_[k] - at_best_[k]);
    }

    // The multipliers of the planes that the mixture stands for.
    void hand_back() {
        for (std::int64_t i = 0; i < sets_.n_blocks(); ++i) {
            DualBlock& block = sets_.dual(i);
            for (double& alpha : block.alpha()) alpha *= block_.alpha()[0];
            for (std::size_t t = 1; t < cuts_.size(); ++t)
                if (cuts_[t].planes[i] >= 0 && block_.alpha()[t] > 0.0)
                    block.alpha()[cuts_[t].planes[i]] += block_.alpha()[t] * cuts_[t].weights[i];
            const double sigma = block.sigma();
            if (sigma > block.u)
                for (double& alpha : block.alpha()) alpha *= block.u / sigma;
        }
    }

    Sets& sets_;
    double* w_;
    std::vector<std::int64_t> offsets_;  // of the planes of every block among all
    DualBlock block_;                    // the multipliers λ of the cuts
    std::vector<Cut> cuts_;
    std::vector<double> best_;
    std::vector<double> here_, at_best_;  // violations of all planes
    std::vector<double> violations_, factors_, products_;
};

}  // namespace structlearn
