#pragma once

#include "alignment/counts.hpp"
#include "alignment/products.hpp"
#include "alignment/tables.hpp"
#include "linear/log_weights.hpp"

namespace structlearn {

// Sums over all alignments, with logarithms at every step: an exponential and a logarithm for each of them, but no score is
// too large.
class AlignmentLogSums {
public:
    // log Σ_y exp F(y)
    double run(const AlignmentScores& scores) {
        tables_.run(scores);
        weights_.clear();
        tables_.each_last(
            [&](Step step, std::int64_t i, std::int64_t j) { weights_.push_back(tables_.cell(step, i, j)); });
        workspace_.resize(weights_.size());
        log_z_ = log_sum(static_cast<std::int64_t>(weights_.size()), weights_.data(), workspace_.data());
        return log_z_;
    }

    // After `run`: adds to counts, which were set to zero. The probability of being in a cell is handed back, row by row, to
    // the cells before, in the shares that those have in its sum.
    void marginals(const AlignmentScores& scores, const AlignmentCounts& counts) {
        const std::int64_t m = scores.m, n = scores.n;
        for (auto* row : {&matched_, &deleted_, &inserted_, &source_}) row->assign(static_cast<std::size_t>(n + 1), 0.0);
        share_.resize(static_cast<std::size_t>(3 * (n + 1)));
        ended_.assign(static_cast<std::size_t>((m + 1) * (n + 1)), 0.0);
        tables_.each_last([&](Step step, std::int64_t i, std::int64_t j) {
            const double probability = std::exp(tables_.cell(step, i, j) - log_z_);
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
            take_matches(i - 1, counts.pairs);
        }
    }

    const AlignmentTables<LogSum>& tables() const { return tables_; }

private:
    // out[j] = exp(part[j] + score(j) − whole[j]), the share of a part in a sum; 0 where there is nothing to share.
    template <class Score>
    static void find_shares(std::int64_t n, const double* part, Score&& score, const double* whole, double* out) {
        for (std::int64_t j = 0; j < n; ++j)
            out[j] = part[j] == minus_infinity ? -1000.0 : part[j] + score(j) - whole[j];
        exponentials(n, out, 0.0, out);
    }

    void take_insertions(const AlignmentScores& scores, std::int64_t i, const GapCounts& counts) {
        const std::int64_t n = scores.n;
        const double* inserted = tables_.row(Step::insertion, i);
        const GapScores& gap = scores.insertion;
        auto next = [&](std::int64_t j) { return gap.next_beside[i] + gap.next[j]; };
        find_shares(n, inserted, next, inserted + 1, share_.data());
        const double* matched = tables_.row(Step::match, i);
        const double* deleted = tables_.row(Step::deletion, i);
        // What insertions begin after is a match or a deletion, in the last row of a semiglobal alignment a deletion.
        const bool after_deletions = tables_.ends() == Ends::semiglobal && i == scores.m;
        // Where nothing but an insertion leads, all goes on to it: no path takes what rounding would leave.
        for (std::int64_t j = 0; scores.known && j < n; ++j)
            if (deleted[j] == minus_infinity && (after_deletions || matched[j] == minus_infinity)) share_[j] = 1.0;
        std::fill(source_.begin(), source_.end(), 0.0);
        for (std::int64_t j = n; j > 0; --j) {
            const double all = inserted_[j], rest = all * share_[j - 1], first = std::max(all - rest, 0.0);
            inserted_[j] = 0.0;
            if (all == 0.0) continue;
            counts.all[j - 1] += all, counts.all_beside[i] += all;
            counts.firsts[j - 1] += first, counts.firsts_beside[i] += first;
            source_[j - 1] = first;
            inserted_[j - 1] += rest;
        }
        if (after_deletions) {
            for (std::int64_t j = 0; j <= n; ++j) deleted_[j] += source_[j];
            return;
        }
        for (std::int64_t j = 0; j <= n; ++j)
            share_[j] = deleted[j] == minus_infinity ? 1000.0 : matched[j] == minus_infinity ? -1000.0 : matched[j] - deleted[j];
        exponentials(n + 1, share_.data(), 0.0, share_.data());
        for (std::int64_t j = 0; j <= n; ++j) {
            const double part = source_[j] / (1.0 + share_[j]);
            deleted_[j] += part;
            matched_[j] += source_[j] - part;
        }
    }

    void take_deletions(const AlignmentScores& scores, std::int64_t i, const GapCounts& counts) {
        if (scores.is_known(i - 1)) {
            // No path deletes it; what rounding has left there goes nowhere.
            std::ranges::fill(deleted_, 0.0);
            return;
        }
        const GapScores& gap = scores.deletion;
        auto first_score = [&](std::int64_t j) { return gap.first[i - 1] + gap.first_beside[j]; };
        find_shares(scores.n + 1, tables_.row(Step::match, i - 1), first_score, tables_.row(Step::deletion, i),
                    share_.data());
        for (std::int64_t j = 0; j <= scores.n; ++j) {
            const double all = deleted_[j], first = all * share_[j];
            counts.all[i - 1] += all, counts.all_beside[j] += all;
            counts.firsts[i - 1] += first, counts.firsts_beside[j] += first;
            matched_[j] += first;
            deleted_[j] = std::max(all - first, 0.0);
        }
    }

    // Hands the probabilities of matches back to row i.
    void take_matches(std::int64_t i, double* pairs) {
        const std::int64_t n = tables_.n();
        const bool semiglobal = tables_.ends() == Ends::semiglobal;
        if (semiglobal && i == 0) return;
        const double* parts[] = {tables_.row(Step::match, i), tables_.row(Step::deletion, i),
                                 tables_.row(Step::insertion, i)};
        const double lowest = tables_.begins(i) ? 0.0 : -1e300;
        for (std::int64_t j = 0; j < n; ++j) source_[j] = std::max({parts[0][j], parts[1][j], parts[2][j], lowest});
        for (int k = 0; k < 3; ++k)
            find_shares(n, parts[k], [](std::int64_t) { return 0.0; }, source_.data(), &share_[k * (n + 1)]);
        if (tables_.begins(i)) {
            for (std::int64_t j = 0; j < n; ++j) source_[j] = -source_[j];
            exponentials(n, source_.data(), 0.0, source_.data());
        } else {
            std::fill(source_.begin(), source_.end(), 0.0);
        }
        for (std::int64_t j = semiglobal ? 1 : 0; j < n; ++j) {
            const double* share = &share_[j];
            const double whole = share[0] + share[n + 1] + share[2 * (n + 1)] + source_[j];
            if (from_match_[j] == 0.0) continue;
            const double factor = from_match_[j] / whole;
            matched_[j] += factor * share[0];
            if (pairs && i > 0 && j > 0) pairs[(i - 1) * (n - 1) + j - 1] = factor * share[0];
            deleted_[j] += factor * share[n + 1];
            inserted_[j] += factor * share[2 * (n + 1)];
        }
    }

    AlignmentTables<LogSum> tables_;
    double log_z_ = 0.0;
    std::vector<double> weights_, workspace_, ended_;
    std::vector<double> matched_, deleted_, inserted_, source_, from_match_;  // one row
    std::vector<double> share_;                                               // three rows
};

// Sums over all alignments, and what samples are drawn from.
class AlignmentSums {
public:
    // log Σ_y exp F(y), and writes all marginals, unless it is −∞.
    double run(const AlignmentScores& scores, const AlignmentCounts& counts) {
        has_tables_ = false;
        if (const auto log_z = products_.run(scores, counts)) return *log_z;
        const double log_z = add(scores);
        counts.clear(scores.m, scores.n);
        if (log_z != minus_infinity) logarithms_.marginals(scores, counts);
        return log_z;
    }

    // After `run`.
    const AlignmentTables<LogSum>& tables(const AlignmentScores& scores) {
        if (!has_tables_) add(scores);
        return logarithms_.tables();
    }

private:
    double add(const AlignmentScores& scores) {
        has_tables_ = true;
        return logarithms_.run(scores);
    }

    AlignmentProducts products_;
    AlignmentLogSums logarithms_;
    bool has_tables_ = false;
};

}  // namespace structlearn
