#pragma once

#include "alignment.hpp"
#include "log_weights.hpp"

namespace structlearn {

// Expected numbers of deletions, or of insertions: of all of them, and of those with which a gap begins; by the letter that
// has no partner, and by the number of letters of the other sequence before it.
struct GapCounts {
    double *all, *all_beside, *firsts, *firsts_beside;
};

struct AlignmentCounts {
    double* match;  // (m, n)
    GapCounts deletion, insertion;
};

// Sums over all alignments, in logarithms: log Z, marginals, samples.
class AlignmentSums {
public:
    // log Σ_y exp F(y)
    double run(const AlignmentScores& scores) {
        tables_.run(scores);
        weights_.clear();
        tables_.each_last(
            [&](Step step, std::int64_t i, std::int64_t j) { weights_.push_back(*tables_.cell(step, i, j)); });
        workspace_.resize(weights_.size());
        log_z_ = log_sum(static_cast<std::int64_t>(weights_.size()), weights_.data(), workspace_.data());
        return log_z_;
    }

    // After `run`: adds to counts, which were set to zero. The probability of being in a cell is handed back, row by row, to
    // the cells before, in the shares that those have in its sum.
    void marginals(const AlignmentScores& scores, const AlignmentCounts& counts) {
        const std::int64_t m = scores.m, n = scores.n;
        for (auto* row : {&matched_, &deleted_, &inserted_, &share_, &source_})
            row->assign(static_cast<std::size_t>(n + 1), 0.0);
        ended_.assign(static_cast<std::size_t>((m + 1) * (n + 1)), 0.0);
        tables_.each_last([&](Step step, std::int64_t i, std::int64_t j) {
            const double probability = std::exp(*tables_.cell(step, i, j) - log_z_);
            if (step == Step::match) ended_[i * (n + 1) + j] = probability;
            if (step == Step::deletion) deleted_[j] = probability;
            if (step == Step::insertion) inserted_[j] = probability;
        });
        for (std::int64_t i = m;; --i) {
            for (std::int64_t j = 0; j <= n; ++j) matched_[j] += ended_[i * (n + 1) + j];
            take_insertions(scores, i, counts.insertion);
            if (i == 0) return;
            // What is left belongs to the row before: matches move one column, deletions stay in theirs.
            from_match_.assign(matched_.begin() + 1, matched_.end());
            std::copy(from_match_.begin(), from_match_.end(), counts.match + (i - 1) * n);
            std::fill(matched_.begin(), matched_.end(), 0.0);
            take_deletions(scores, i, counts.deletion);
            take_matches(i - 1);
        }
    }

    // After `run`: the codes of an alignment drawn with probability exp F(y) / Z, given m + n + 1 uniform numbers.
    void sample(const AlignmentScores& scores, const double* uniform, std::int32_t* codes) {
        std::fill_n(codes, scores.m, -1);
        std::vector<Place> places;
        tables_.each_last([&](Step step, std::int64_t i, std::int64_t j) { places.push_back({step, i, j}); });
        std::vector<double> weights = weights_;
        for (;;) {
            const auto count = static_cast<std::int64_t>(places.size());
            const Place here = places[static_cast<std::size_t>(draw(count, weights.data(), *uniform++))];
            if (here.step == Step::start || here.i + here.j == 0) return;
            if (here.step == Step::match) codes[here.i - 1] = static_cast<std::int32_t>(here.j - 1);
            places.clear();
            weights.clear();
            tables_.each_before(scores, here.step, here.i, here.j,
                                [&](Step step, std::int64_t i, std::int64_t j, double score) {
                                    places.push_back({step, i, j});
                                    weights.push_back(*tables_.cell(step, i, j) + score);
                                });
        }
    }

private:
    struct Place {
        Step step;
        std::int64_t i, j;
    };

    // share[j] = exp(part[j] + score(j) − whole[j]), the share of a part in a sum; 0 where there is nothing to share.
    template <class Score>
    void find_shares(std::int64_t n, const double* part, Score&& score, const double* whole) {
        for (std::int64_t j = 0; j < n; ++j)
            share_[j] = part[j] == minus_infinity ? -1000.0 : part[j] + score(j) - whole[j];
        exponentials(n, share_.data(), 0.0, share_.data());
    }

    void take_insertions(const AlignmentScores& scores, std::int64_t i, const GapCounts& counts) {
        const std::int64_t n = scores.n;
        const double* inserted = tables_.cell(Step::insertion, i, 0);
        const double* after = tables_.inserting_after(i);
        const GapScores& gap = scores.insertion;
        find_shares(n, after, [&](std::int64_t j) { return gap.first_beside[i] + gap.first[j]; }, inserted + 1);
        std::fill(source_.begin(), source_.end(), 0.0);
        for (std::int64_t j = n; j > 0; --j) {
            const double all = inserted_[j], first = all * share_[j - 1];
            inserted_[j] = 0.0;
            if (all == 0.0) continue;
            counts.all[j - 1] += all, counts.all_beside[i] += all;
            counts.firsts[j - 1] += first, counts.firsts_beside[i] += first;
            source_[j - 1] = first;
            inserted_[j - 1] += std::max(all - first, 0.0);
        }
        inserted_[0] = 0.0;
        find_shares(n + 1, tables_.cell(Step::deletion, i, 0), [](std::int64_t) { return 0.0; }, after);
        for (std::int64_t j = 0; j <= n; ++j) {
            const double part = source_[j] * share_[j];
            deleted_[j] += part;
            matched_[j] += std::max(source_[j] - part, 0.0);
        }
    }

    void take_deletions(const AlignmentScores& scores, std::int64_t i, const GapCounts& counts) {
        const GapScores& gap = scores.deletion;
        find_shares(
            scores.n + 1, tables_.cell(Step::match, i - 1, 0),
            [&](std::int64_t j) { return gap.first[i - 1] + gap.first_beside[j]; }, tables_.cell(Step::deletion, i, 0));
        for (std::int64_t j = 0; j <= scores.n; ++j) {
            const double all = deleted_[j], first = all * share_[j];
            counts.all[i - 1] += all, counts.all_beside[j] += all;
            counts.firsts[i - 1] += first, counts.firsts_beside[j] += first;
            matched_[j] += first;
            deleted_[j] = std::max(all - first, 0.0);
        }
    }

    // Hands the probabilities of matches back to row i.
    void take_matches(std::int64_t i) {
        const std::int64_t n = tables_.n();
        tables_.inserting_after(i);
        tables_.matching_after(i, source_.data());
        const std::int64_t begin = tables_.ends() != Ends::semiglobal ? 0 : i == 0 ? n : 1;
        auto take = [&](Step step, std::vector<double>& row) {
            find_shares(n, tables_.cell(step, i, 0), [](std::int64_t) { return 0.0; }, source_.data());
            for (std::int64_t j = begin; j < n; ++j) row[j] += from_match_[j] * share_[j];
        };
        take(Step::match, matched_);
        take(Step::deletion, deleted_);
        take(Step::insertion, inserted_);
    }

    AlignmentTables<LogSum> tables_;
    double log_z_ = 0.0;
    std::vector<double> weights_, workspace_, ended_;
    std::vector<double> matched_, deleted_, inserted_, source_, share_, from_match_;  // one row
};

}  // namespace structlearn
