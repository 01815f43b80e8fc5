#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "linear/log_weights.hpp"
#include "linear/vector.hpp"
#include "parts/composed.hpp"

namespace structlearn {

// One label an example: a part for every class, all of them local. An output is one code. `allowed`, (n_examples, n_classes), is
// null if all classes are; what is not allowed has −∞ instead of its score.
class MulticlassStructure {
public:
    explicit MulticlassStructure(std::int64_t n_classes, const std::uint8_t* allowed = nullptr)
        : K_(n_classes), allowed_(allowed) {}

    std::int64_t output_size(std::int64_t) const { return 1; }
    std::int64_t n_local(std::int64_t) const { return K_; }
    std::int64_t n_shared() const { return 0; }
    void prepare(const double*) {}

    double best(std::int64_t i, const double* local, Codes& codes) {
        local = read(i, local);
        const double* top = std::max_element(local, local + K_);
        codes.assign(1, static_cast<std::int32_t>(top - local));
        return *top;
    }
    double score(std::int64_t i, const double* local, const std::int32_t* code) { return read(i, local)[*code]; }
    void k_best(std::int64_t i, const double* local, std::int64_t k, std::vector<Codes>& found,
                std::vector<double>& values) {
        local = read(i, local);
        order_.resize(static_cast<std::size_t>(K_));
        std::iota(order_.begin(), order_.end(), 0);
        std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return local[a] > local[b]; });
        for (std::int64_t rank = 0; rank < std::min(k, K_) && local[order_[rank]] > minus_infinity; ++rank) {
            found.push_back({order_[rank]});
            values.push_back(local[order_[rank]]);
        }
    }
    const std::vector<double>& levels(std::int64_t i, const double* local, const Counting& counted) {
        local = read(i, local);
        top_.assign(static_cast<std::size_t>(counted.n_levels), minus_infinity);
        at_.resize(top_.size());
        for (std::int64_t y = 0; y < K_; ++y) {
            const std::int32_t level = counted.steps[y];
            if (local[y] > top_[level]) top_[level] = local[y], at_[level] = static_cast<std::int32_t>(y);
        }
        return top_;
    }
    void trace_level(std::int64_t, const double*, const Counting&, std::int64_t level, Codes& codes) const {
        codes.assign(1, at_[level]);
    }

    double sums(std::int64_t i, const double* local, double* of_local, double*) {
        local = read(i, local);
        weights_.resize(static_cast<std::size_t>(K_));
        double* out = of_local ? of_local : weights_.data();
        const double top = *std::max_element(local, local + K_);
        exponentials(K_, local, top, out);
        double sum = 0.0;
        for (std::int64_t y = 0; y < K_; ++y) sum += out[y];
        for (std::int64_t y = 0; y < K_; ++y) out[y] /= sum;
        return top + std::log(sum);
    }
    template <class Uniform>
    void sample(std::int64_t, const double*, Uniform&& uniform, Codes& codes) const {
        codes.assign(1, static_cast<std::int32_t>(draw_weighted(K_, weights_.data(), uniform())));
    }

    template <class Visit>
    void each_part(std::int64_t, const std::int32_t* code, Visit&& visit) const { visit(std::int64_t{*code}); }
    template <class Visit>
    void each_move(std::int64_t, const std::int32_t* code, const std::int32_t* other, Visit&& visit) const {
        if (*code != *other) visit(std::int64_t{*code}, std::int64_t{*other});
    }

private:
    // The scores of what is allowed; they live until the next call.
    const double* read(std::int64_t i, const double* local) {
        if (!allowed_) return local;
        masked_.assign(local, local + K_);
        for (std::int64_t y = 0; y < K_; ++y)
            if (!allowed_[i * K_ + y]) masked_[y] = minus_infinity;
        return masked_.data();
    }

    std::int64_t K_;
    const std::uint8_t* allowed_;
    std::vector<std::int32_t> order_, at_;
    std::vector<double> top_, weights_, masked_;
};

}  // namespace structlearn
