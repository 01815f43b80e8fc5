#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "batch/ragged.hpp"
#include "parts/losses.hpp"

namespace structlearn {

// The share of the true matches that have no match within the shift, counted along t for the same letter of s, or, if
// `along_s`, along s for the same letter of t: each match makes it smaller.
class MissedMatches : public PartLoss {
public:
    MissedMatches(std::span<const std::int32_t> truths, Ragged s, Ragged t, std::int64_t shift, bool along_s)
        : truths_(truths), s_(s), t_(t), shift_(shift), along_s_(along_s) {}

    void add(std::int64_t i, double* local) const override {
        const std::int64_t m = s_.size(i), n = t_.size(i);
        const std::int32_t* truth = truths_.data() + s_.begin(i);
        const double share = this->share(i);
        for (std::int64_t u = 0; u < m; ++u) {
            if (truth[u] < 0) continue;
            const std::int64_t middle = along_s_ ? u : truth[u];
            const std::int64_t last = std::min(middle + shift_, (along_s_ ? m : n) - 1);
            for (std::int64_t v = std::max<std::int64_t>(middle - shift_, 0); v <= last; ++v)
                local[along_s_ ? v * n + truth[u] : u * n + v] -= share;
        }
    }
    double at(std::int64_t i, std::int64_t part) const override {
        const std::int64_t m = s_.size(i), n = t_.size(i);
        if (part >= m * n) return 0.0;
        const std::int64_t u = part / n, v = part % n;
        const std::int32_t* truth = truths_.data() + s_.begin(i);
        if (!along_s_) return truth[u] >= 0 && std::abs(truth[u] - v) <= shift_ ? -share(i) : 0.0;
        for (std::int64_t k = std::max<std::int64_t>(u - shift_, 0); k <= std::min(u + shift_, m - 1); ++k)
            if (truth[k] == v) return -share(i);
        return 0.0;
    }
    double truth(std::int64_t i) const override { return count(i) > 0 ? -1.0 : 0.0; }

private:
    std::int64_t count(std::int64_t i) const {
        return std::count_if(truths_.begin() + s_.begin(i), truths_.begin() + s_.end(i), [](auto code) { return code >= 0; });
    }
    double share(std::int64_t i) const { return 1.0 / static_cast<double>(std::max<std::int64_t>(count(i), 1)); }

    std::span<const std::int32_t> truths_;
    Ragged s_, t_;
    std::int64_t shift_;
    bool along_s_;
};

}  // namespace structlearn
