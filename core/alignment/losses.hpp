#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "batch/ragged.hpp"
#include "parts/losses.hpp"

namespace structlearn {

// The true matches that an alignment finds: those that have a match within the shift, counted along t for the same letter of
// s, or, if `along_s`, along s for the same letter of t.
class FoundMatches : public PartSteps {
public:
    FoundMatches(std::span<const std::int32_t> truths, Ragged s, Ragged t, std::int64_t shift, bool along_s)
        : truths_(truths), s_(s), t_(t), shift_(shift), along_s_(along_s) {
        for (std::int64_t i = 0; i < s.count(); ++i)
            counts_.push_back(std::ranges::count_if(s.of(truths, i), [](std::int32_t code) { return code >= 0; }));
    }

    std::int64_t n_levels(std::int64_t i) const override { return count(i) + 1; }
    void write(std::int64_t i, std::int32_t* steps) const override {
        each(i, [&](std::int64_t part) { ++steps[part]; });
    }
    std::int32_t at(std::int64_t i, std::int64_t part) const override {
        const std::int64_t m = s_.size(i), n = t_.size(i);
        if (part >= m * n) return 0;
        const std::int64_t u = part / n, v = part % n;
        const std::int32_t* truth = truths_.data() + s_.begin(i);
        if (!along_s_) return truth[u] >= 0 && std::abs(truth[u] - v) <= shift_;
        const std::int64_t last = std::min(u + shift_, m - 1);
        for (std::int64_t k = std::max<std::int64_t>(u - shift_, 0); k <= last; ++k)
            if (truth[k] == v) return 1;
        return 0;
    }

    // All true matches.
    std::int64_t count(std::int64_t i) const { return counts_[static_cast<std::size_t>(i)]; }
    // Calls visit(part) for every match that finds a true one, as often as it does.
    template <class Visit>
    void each(std::int64_t i, Visit&& visit) const {
        const std::int64_t m = s_.size(i), n = t_.size(i);
        const std::int32_t* truth = truths_.data() + s_.begin(i);
        for (std::int64_t u = 0; u < m; ++u) {
            if (truth[u] < 0) continue;
            const std::int64_t middle = along_s_ ? u : truth[u];
            const std::int64_t last = std::min(middle + shift_, (along_s_ ? m : n) - 1);
            for (std::int64_t v = std::max<std::int64_t>(middle - shift_, 0); v <= last; ++v)
                visit(along_s_ ? v * n + truth[u] : u * n + v);
        }
    }

private:
    std::span<const std::int32_t> truths_;
    Ragged s_, t_;
    std::int64_t shift_;
    bool along_s_;
    std::vector<std::int64_t> counts_;
};

// The share of the true matches that an alignment does not find: each one that it finds makes it smaller.
class MissedMatches : public PartLoss {
public:
    explicit MissedMatches(const FoundMatches& found) : found_(found) {}

    void add(std::int64_t i, double* local) const override {
        const double share = this->share(i);
        found_.each(i, [&](std::int64_t part) { local[part] -= share; });
    }
    double at(std::int64_t i, std::int64_t part) const override { return -share(i) * found_.at(i, part); }
    double truth(std::int64_t i) const override { return found_.count(i) > 0 ? -1.0 : 0.0; }

private:
    double share(std::int64_t i) const { return 1.0 / static_cast<double>(std::max<std::int64_t>(found_.count(i), 1)); }

    FoundMatches found_;
};

}  // namespace structlearn
