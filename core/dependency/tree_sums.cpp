#include "dependency/tree_sums.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linear/log_weights.hpp"

namespace structlearn {

double TreeSums::run(std::int64_t n, bool single_root, const double* scores) {
    n_ = n, scores_ = scores;
    core_.clear(), rest_.clear();
    if (n == 0) return 0.0;
    if (!single_root) {
        core_.resize(static_cast<std::size_t>(n));
        std::iota(core_.begin(), core_.end(), std::int64_t{1});
    } else if (!find_core(n, scores)) {
        return minus_infinity;
    }
    read_core(scores);
    const double of_core = of_core_.run(static_cast<std::int64_t>(core_.size()), core_weights_.data(), single_root);
    if (rest_.empty() || of_core == minus_infinity) return of_core;
    read_rest(scores);
    return of_core + of_rest_.run(static_cast<std::int64_t>(rest_.size()), rest_weights_.data(), false);
}

// The tokens from which all can be reached, if there are any: the last one that a search over all had to begin with, if it is
// one, and those that reach it.
bool TreeSums::find_core(std::int64_t n, const double* scores) {
    reached_.assign(static_cast<std::size_t>(n + 1), 0);
    std::int64_t last = 0;
    for (std::int64_t v = 1; v <= n; ++v)
        if (!reached_[v]) mark_reached(n, scores, last = v, true);
    std::fill(reached_.begin(), reached_.end(), 0);
    if (mark_reached(n, scores, last, true) < n) return false;
    std::fill(reached_.begin(), reached_.end(), 0);
    mark_reached(n, scores, last, false);
    for (std::int64_t v = 1; v <= n; ++v) (reached_[v] ? core_ : rest_).push_back(v);
    return true;
}

// Marks the tokens that can be reached by arcs from one that is not marked, or those from which it can be; how many they are.
std::int64_t TreeSums::mark_reached(std::int64_t n, const double* scores, std::int64_t from, bool forward) {
    waiting_.assign(1, from);
    reached_[from] = 1;
    std::int64_t count = 1;
    while (!waiting_.empty()) {
        const std::int64_t at = waiting_.back();
        waiting_.pop_back();
        for (std::int64_t v = 1; v <= n; ++v) {
            if (reached_[v] || scores[forward ? at * (n + 1) + v : v * (n + 1) + at] == minus_infinity) continue;
            reached_[v] = 1, ++count;
            waiting_.push_back(v);
        }
    }
    return count;
}

void TreeSums::read_core(const double* scores) {
    const std::size_t k = core_.size();
    core_weights_.resize(k * (k + 1));
    for (std::size_t m = 0; m < k; ++m) {
        core_weights_[m * (k + 1)] = scores[core_[m]];
        for (std::size_t h = 0; h < k; ++h) core_weights_[m * (k + 1) + h + 1] = scores[core_[h] * (n_ + 1) + core_[m]];
    }
}

void TreeSums::read_rest(const double* scores) {
    const std::size_t k = rest_.size();
    rest_weights_.resize(k * (k + 1));
    terms_.resize(core_.size());
    for (std::size_t m = 0; m < k; ++m) {
        for (std::size_t c = 0; c < core_.size(); ++c) terms_[c] = scores[core_[c] * (n_ + 1) + rest_[m]];
        rest_weights_[m * (k + 1)] = log_sum_.total(static_cast<std::int64_t>(core_.size()), terms_.data());
        for (std::size_t h = 0; h < k; ++h) rest_weights_[m * (k + 1) + h + 1] = scores[rest_[h] * (n_ + 1) + rest_[m]];
    }
}

void TreeSums::marginals(double* out) {
    std::fill_n(out, (n_ + 1) * (n_ + 1), 0.0);
    auto write = [&](const std::vector<std::int64_t>& tokens, auto&& of_root) {
        const std::size_t k = tokens.size();
        for (std::size_t m = 0; m < k; ++m) {
            of_root(tokens[m], m, found_[m * (k + 1)]);
            for (std::size_t h = 0; h < k; ++h) out[tokens[h] * (n_ + 1) + tokens[m]] = found_[m * (k + 1) + h + 1];
        }
    };
    found_.resize(std::max(core_.size() * (core_.size() + 1), rest_.size() * (rest_.size() + 1)));
    of_core_.marginals(found_.data());
    write(core_, [&](std::int64_t token, std::size_t, double p) { out[token] = p; });
    if (rest_.empty()) return;
    of_rest_.marginals(found_.data());
    write(rest_, [&](std::int64_t token, std::size_t m, double p) {
        for (const std::int64_t head : core_) {
            const double share = scores_[head * (n_ + 1) + token] - rest_weights_[m * (rest_.size() + 1)];
            out[head * (n_ + 1) + token] = p > 0.0 ? p * std::exp(share) : 0.0;
        }
    });
}

}  // namespace structlearn
