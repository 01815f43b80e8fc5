#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dependency/edmonds.hpp"
#include "dependency/k_best.hpp"
#include "dependency/outputs.hpp"
#include "dependency/sampling.hpp"
#include "dependency/tree_sums.hpp"

namespace structlearn {

// All trees, with crossing arcs and without, of first order. There is no decoder of loss levels: trees with a given number of wrong
// heads are no matter of contractions.
class NonprojectiveTrees : public DependencyOutputs {
public:
    using DependencyOutputs::DependencyOutputs;

    double best(std::int64_t i, const double* local, Codes& codes) {
        const std::int64_t n = shape_.length(i);
        read_arcs(shape_, i, local, max_, labels_, arcs_);
        codes.resize(static_cast<std::size_t>(n));
        if (!best_.run(n, shape_.single_root, arcs_.data(), codes.data())) return minus_infinity;
        for (std::int64_t m = 1; m <= n; ++m)
            codes[m - 1] = BestTrees::best_label(shape_, i, local, codes[m - 1], m).first;
        return score(i, local, codes.data());
    }
    void k_best(std::int64_t i, const double* local, std::int64_t k, std::vector<Codes>& found, std::vector<double>& values) {
        read_arcs(shape_, i, local, max_, labels_, arcs_);
        k_best_.run(shape_, i, local, arcs_, k, found, values);
    }

    // Zeros where there is no tree.
    double sums(std::int64_t i, const double* local, double* of_local, double*) {
        read_arcs(shape_, i, local, log_sum_, labels_, arcs_);
        marginals_.clear();
        log_z_ = sums_.run(shape_.length(i), shape_.single_root, arcs_.data());
        if (!of_local) return log_z_;
        std::fill_n(of_local, n_local(i), 0.0);
        if (log_z_ == minus_infinity) return log_z_;
        find_marginals(i);
        share_labels(i, local, arcs_.data(), marginals_.data(), of_local);
        return log_z_;
    }
    // A tree with one token below the root hangs the others on that.
    template <class Uniform>
    void sample(std::int64_t i, const double* local, Uniform&& uniform, Codes& codes) {
        const std::int64_t n = shape_.length(i);
        codes.assign(static_cast<std::size_t>(n), 0);
        if (log_z_ == minus_infinity || n == 0) return;
        std::int64_t top = 0;
        if (shape_.single_root) {
            if (marginals_.empty()) find_marginals(i);
            top = 1 + draw_weighted(n, marginals_.data() + 1, uniform());
        }
        hang(n, top, uniform, codes);
        for (std::int64_t m = 1; m <= n; ++m) codes[m - 1] = draw_label(i, local, codes[m - 1], m, uniform());
    }

private:
    void find_marginals(std::int64_t i) {
        marginals_.resize(static_cast<std::size_t>(shape_.n_arcs(i)));
        sums_.marginals(marginals_.data());
    }
    // Draws the heads of all tokens but `top`, whose head is the root; of all if it is the root.
    template <class Uniform>
    void hang(std::int64_t n, std::int64_t top, Uniform& uniform, Codes& heads) {
        tokens_.clear();
        for (std::int64_t m = 1; m <= n; ++m)
            if (m != top) tokens_.push_back(m);
        const std::size_t k = tokens_.size();
        weights_.resize(k * (k + 1)), drawn_.resize(k);
        for (std::size_t m = 0; m < k; ++m) {
            weights_[m * (k + 1)] = arcs_[top * (n + 1) + tokens_[m]];
            for (std::size_t h = 0; h < k; ++h) weights_[m * (k + 1) + h + 1] = arcs_[tokens_[h] * (n + 1) + tokens_[m]];
        }
        sampler_.run(static_cast<std::int64_t>(k), weights_.data(), uniform, drawn_.data());
        for (std::size_t m = 0; m < k; ++m)
            heads[tokens_[m] - 1] = static_cast<std::int32_t>(drawn_[m] == 0 ? top : tokens_[drawn_[m] - 1]);
    }
    std::int32_t draw_label(std::int64_t i, const double* local, std::int64_t head, std::int64_t m, double uniform) {
        const std::int64_t L = shape_.n_labels;
        const double* scores = local + shape_.arc(i, head, m);
        labels_.assign(scores, scores + L);
        for (std::int64_t l = 0; l < L; ++l)
            if (!shape_.allows_label(i, m, l)) labels_[l] = minus_infinity;
        return static_cast<std::int32_t>(head * L + (L == 1 ? 0 : draw(L, labels_.data(), uniform)));
    }

    MaxPlus max_;
    LogSum log_sum_;
    BestArborescence best_;
    BestTrees k_best_;
    TreeSums sums_;
    TreeSampler sampler_;
    double log_z_ = minus_infinity;
    std::vector<double> arcs_, labels_, marginals_, weights_;
    std::vector<std::int64_t> tokens_;
    Codes drawn_;
};

}  // namespace structlearn
