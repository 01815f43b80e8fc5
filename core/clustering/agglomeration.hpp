#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "batch/parallel.hpp"
#include "clustering/pairs.hpp"

namespace structlearn {

// Best-first agglomeration: starts from single items and joins the two clusters whose pairs between them have the largest
// sum of scores, while that is positive. A pair that is not there scores 0.
class Agglomeration {
public:
    // Writes for each item the smallest item of its cluster.
    void run(const PairKinds& data, std::int64_t example, const PairScores& scores, std::int32_t* out) {
        fill(data, example, scores);
        std::iota(out, out + n_, 0);
        alive_.resize(n_);
        std::iota(alive_.begin(), alive_.end(), std::size_t{0});
        partner_.assign(n_, 0);
        for (const std::size_t c : alive_) look(c);
        while (alive_.size() > 1) {
            std::size_t kept = alive_[0];
            for (const std::size_t c : alive_)
                if (best(c) > best(kept)) kept = c;
            if (!(best(kept) > 0.0)) return;
            std::size_t gone = partner_[kept];
            if (gone < kept) std::swap(kept, gone);
            merge(kept, gone);
            for (std::size_t i = 0; i < n_; ++i)
                if (out[i] == static_cast<std::int32_t>(gone)) out[i] = static_cast<std::int32_t>(kept);
        }
    }

private:
    void fill(const PairKinds& data, std::int64_t example, const PairScores& scores) {
        n_ = static_cast<std::size_t>(data.n_items(example));
        sums_.assign(n_ * n_, 0.0);
        const double* score = scores.of_kinds;
        for (std::int64_t kind = data.kinds.begin(example); kind < data.kinds.end(example); ++kind, ++score) {
            for (std::int64_t p = data.pairs.begin(kind); p < data.pairs.end(kind); ++p) {
                const std::int32_t i = data.first[p], j = data.second[p];
                const bool together = scores.labels && scores.labels[i] == scores.labels[j];
                const double value = *score + (together ? scores.inside : scores.across);
                sum(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) = value;
                sum(static_cast<std::size_t>(j), static_cast<std::size_t>(i)) = value;
            }
        }
    }

    double& sum(std::size_t a, std::size_t b) { return sums_[a * n_ + b]; }
    // The largest sum with another cluster; of a cluster that is alone, 0.
    double best(std::size_t c) { return partner_[c] == c ? 0.0 : sum(c, partner_[c]); }

    void look(std::size_t c) {
        partner_[c] = c;
        for (const std::size_t other : alive_)
            if (other != c && (partner_[c] == c || sum(c, other) > best(c))) partner_[c] = other;
    }

    void merge(std::size_t kept, std::size_t gone) {
        alive_.erase(std::lower_bound(alive_.begin(), alive_.end(), gone));
        for (const std::size_t c : alive_) sum(kept, c) += sum(gone, c);
        for (const std::size_t c : alive_) {
            if (c == kept) continue;
            sum(c, kept) = sum(kept, c);
            if (partner_[c] == kept || partner_[c] == gone)
                look(c);
            else if (sum(c, kept) > best(c))
                partner_[c] = kept;
        }
        look(kept);
    }

    std::size_t n_ = 0;
    std::vector<double> sums_;
    std::vector<std::size_t> alive_, partner_;
};

// A clustering of each chosen example, from the scores of their kinds one after another: for each item the smallest item of
// its cluster.
inline void agglomerate(const PairKinds& data, std::span<const double> scores, std::span<const std::int64_t> examples,
                        std::optional<std::span<const std::int32_t>> labels, std::span<const double> inside,
                        std::span<const double> across, std::span<std::int32_t> out, int n_threads) {
    const auto at = data.items.gathered(examples), kinds = data.kinds.gathered(examples);
    for_each_example(examples, n_threads, Agglomeration(), [&](std::int64_t k, std::int64_t i, Agglomeration& worker) {
        const PairScores given{scores.data() + kinds[k], data.of_example(labels, i), inside[k], across[k]};
        worker.run(data, i, given, out.data() + at[k]);
    });
}

}  // namespace structlearn
