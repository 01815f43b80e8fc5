#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "alignment/scores.hpp"
#include "linear/semirings.hpp"

namespace structlearn {

// The one dynamic program. An alignment is a set of matches (i, j) that increase in both; between two matches all
// deletions come before all insertions, so that an alignment is exactly one path. Cell (i, j) of a table sums, in the
// semiring, over the paths that have read i letters of s and j of t and ended with a match, a deletion, an insertion; the
// start counts as a match.
template <Semiring S>
class AlignmentTables {
public:
    void run(const AlignmentScores& scores) {
        m_ = scores.m, n_ = scores.n, ends_ = scores.ends;
        first_known_ = scores.first_known, last_known_ = scores.last_known;
        for (auto* table : {&matched_, &deleted_, &inserted_}) table->resize(static_cast<std::size_t>((m_ + 1) * (n_ + 1)));
        for (auto* row : {&either_, &any_}) row->resize(static_cast<std::size_t>(n_ + 1));
        zeros_.assign(either_.size(), 0.0);
        std::fill_n(&matched_[0], n_ + 1, minus_infinity);
        std::fill_n(&deleted_[0], n_ + 1, minus_infinity);
        if (ends_ != Ends::local) matched_[0] = 0.0;
        for (std::int64_t i = 0; i <= m_; ++i) {
            if (i > 0) {
                const GapScores& gap = scores.deletion;
                const double* match = scores.match[i - 1];
                matched_[at(i, 0)] = minus_infinity;
                for (std::int64_t j = 0; j < n_; ++j) matched_[at(i, j + 1)] = any_[j] + match[j];
                if (scores.is_known(i - 1))
                    std::fill_n(&deleted_[at(i, 0)], n_ + 1, minus_infinity);
                else
                    semiring_.join_shifted(n_ + 1, &matched_[at(i - 1, 0)], gap.first[i - 1], gap.first_beside,
                                           &deleted_[at(i - 1, 0)], gap.next[i - 1], gap.next_beside,
                                           &deleted_[at(i, 0)]);
            }
            const double* after = inserting_after(i);
            if (ends_ == Ends::semiglobal && i == 0)
                std::fill_n(&inserted_[0], n_ + 1, minus_infinity);
            else
                insert(scores, i, after);
            if (i < m_) matching_after(i);
        }
    }

    // Calls visit(step, i, j, score) for all that may stand right before a step that led to cell (i, j): the step that led
    // to the cell before, and what it adds to go on from there; without the score of a match.
    template <class Visit>
    void each_before(const AlignmentScores& scores, Step step, std::int64_t i, std::int64_t j, Visit&& visit) const {
        const bool semiglobal = ends_ == Ends::semiglobal;
        if (step == Step::match) {
            --i, --j;
            if (begins(i) || (semiglobal && (i == 0 || j == 0))) visit(Step::start, i, j, 0.0);
            if (semiglobal && (i == 0 || j == 0)) return;
            for (Step before : {Step::match, Step::deletion, Step::insertion}) visit(before, i, j, 0.0);
        } else if (step == Step::deletion) {
            --i;
            const GapScores& gap = scores.deletion;
            visit(Step::match, i, j, gap.first[i] + gap.first_beside[j]);
            visit(Step::deletion, i, j, gap.next[i] + gap.next_beside[j]);
        } else {
            --j;
            const GapScores& gap = scores.insertion;
            const double first = gap.first_beside[i] + gap.first[j];
            if (!(semiglobal && i == m_)) visit(Step::match, i, j, first);
            visit(Step::deletion, i, j, first);
            visit(Step::insertion, i, j, gap.next_beside[i] + gap.next[j]);
        }
    }

    // Calls visit(step, i, j) for all that may be the last step of an alignment.
    template <class Visit>
    void each_last(Visit&& visit) const {
        if (ends_ == Ends::local && last_known_ < 0) visit(Step::start, 0, 0);
        const std::int64_t first = ends_ == Ends::global  ? m_
                                   : ends_ == Ends::local ? std::max<std::int64_t>(last_known_, 0) + 1
                                                          : 1;
        for (std::int64_t i = first; i <= m_; ++i)
            for (std::int64_t j = ends_ == Ends::local || (ends_ == Ends::semiglobal && i == m_) ? 1 : n_; j <= n_; ++j)
                visit(Step::match, i, j);
        if (ends_ == Ends::global) visit(Step::deletion, m_, n_);
        if (ends_ != Ends::local) visit(Step::insertion, m_, n_);
    }

    // The value of all paths to a cell that ended with that step.
    double cell(Step step, std::int64_t i, std::int64_t j) const {
        return step == Step::start ? 0.0 : table(step)[static_cast<std::size_t>(at(i, j))];
    }
    // A row of these.
    const double* row(Step step, std::int64_t i) const { return &table(step)[static_cast<std::size_t>(at(i, 0))]; }

    // Whether letter i of s may be of the first match of a local alignment.
    bool begins(std::int64_t i) const { return ends_ == Ends::local && i <= first_known_; }

    std::int64_t at(std::int64_t i, std::int64_t j) const { return i * (n_ + 1) + j; }
    std::int64_t m() const { return m_; }
    std::int64_t n() const { return n_; }
    Ends ends() const { return ends_; }

private:
    const std::vector<double>& table(Step step) const {
        return step == Step::match ? matched_ : step == Step::deletion ? deleted_ : inserted_;
    }

    // Row i of insertions: in one scan, or in one between known partners and the next, at which none goes on.
    void insert(const AlignmentScores& scores, std::int64_t i, const double* after) {
        const GapScores& gap = scores.insertion;
        auto scan = [&](std::int64_t begin, std::int64_t end) {
            semiring_.scan(end - begin, after + begin, gap.first_beside[i], gap.first + begin, gap.next_beside[i],
                           gap.next + begin, &inserted_[at(i, begin)]);
        };
        std::int64_t begin = 0;
        for (std::int64_t k = scores.first_known; k <= scores.last_known; ++k)
            if (scores.is_known(k)) scan(begin, scores.known[k]), begin = scores.known[k] + 1;
        scan(begin, n_);
    }

    // Row i of what insertions begin after: matches and deletions; lives until the next call.
    const double* inserting_after(std::int64_t i) {
        semiring_.join(n_ + 1, &matched_[at(i, 0)], &deleted_[at(i, 0)], either_.data());
        return ends_ == Ends::semiglobal && i == m_ ? &deleted_[at(i, 0)] : either_.data();
    }

    // After inserting_after(i), row i of what matches come after: anything, or the beginning where the ends are free.
    void matching_after(std::int64_t i) {
        semiring_.join(n_ + 1, either_.data(), &inserted_[at(i, 0)], any_.data());
        if (begins(i)) {
            either_ = any_;
            semiring_.join(n_ + 1, either_.data(), zeros_.data(), any_.data());
        }
        if (ends_ == Ends::semiglobal) std::fill_n(any_.begin(), i == 0 ? n_ + 1 : 1, 0.0);
    }

    std::int64_t m_ = 0, n_ = 0, first_known_ = 0, last_known_ = -1;
    Ends ends_ = Ends::global;
    S semiring_;
    std::vector<double> matched_, deleted_, inserted_;  // (m + 1, n + 1)
    std::vector<double> either_, any_, zeros_;       // (n + 1,)
};

}  // namespace structlearn
