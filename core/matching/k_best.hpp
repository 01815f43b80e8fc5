#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

#include "linear/dense.hpp"
#include "linear/vector.hpp"
#include "matching/assignment.hpp"

namespace structlearn {

// Columns that stand for the same: the first ones, in groups of `each`. None in a group is better than the first, and the others
// are alike.
struct ColumnCopies {
    std::int64_t each = 1, columns = 0;

    std::int64_t size(std::int64_t column) const { return column < columns ? each : 1; }
    std::int64_t first(std::int64_t column) const { return column < columns ? column / each * each : column; }
};

// The k best assignments of rows to columns (Murty 1968). Those that are not yet found are parted by the first row in which they
// differ from one that is: rows before it are fixed, and some of its columns excluded. Each part goes on from the prices of the
// one that it comes from, by a single search. Only the first `branching` rows tell assignments apart, and copies of a column do not.
class BestAssignments {
public:
    // Calls visit(column_of, score) for up to k of them, best first.
    template <class Visit>
    void run(MatrixView<double> scores, std::int64_t branching, std::int64_t k, ColumnCopies copies, Visit&& visit) {
        found_.clear(), serial_ = 0, copies_ = copies;
        if (!solver_.run(scores)) return;
        keep(scores, k, 0, {});
        while (k-- > 0 && !found_.empty()) {
            const Part part = std::move(found_.extract(std::prev(found_.end())).value());
            visit(part.column_of, part.score);
            if (k > 0) divide(scores, branching, k, part);
        }
    }

private:
    struct Part {
        double score;
        std::int64_t serial;  // of equal scores the one that was found first comes first
        std::int64_t fixed;   // how many of the first rows are
        std::vector<std::int32_t> excluded;  // columns of the row after them
        std::vector<std::int32_t> column_of;
        std::vector<double> price;
        bool operator<(const Part& other) const {
            return score != other.score ? score < other.score : serial > other.serial;
        }
    };

    void divide(MatrixView<double> scores, std::int64_t branching, std::int64_t k, const Part& part) {
        for (std::int64_t row = part.fixed; row < branching; ++row) {
            solver_.column_of = part.column_of;
            solver_.price = part.price;
            solver_.row_of.assign(scores.columns, -1);
            for (std::size_t i = 0; i < scores.rows; ++i) solver_.row_of[part.column_of[i]] = static_cast<std::int32_t>(i);
            const std::int32_t freed = part.column_of[row];
            std::vector<std::int32_t> excluded;
            if (row == part.fixed) excluded = part.excluded;
            excluded.push_back(freed);
            const double* all = scores.row(static_cast<std::size_t>(row));
            instead_.assign(all, all + scores.columns);
            for (const std::int32_t column : excluded)
                std::fill_n(instead_.begin() + copies_.first(column), copies_.size(column), minus_infinity);
            solver_.column_of[row] = solver_.row_of[freed] = -1;
            if (solver_.repair(scores, row, row, freed, instead_.data())) keep(scores, k, row, std::move(excluded));
        }
    }
    // Remembers what the solver has found, unless k better ones are known.
    void keep(MatrixView<double> scores, std::int64_t k, std::int64_t fixed, std::vector<std::int32_t> excluded) {
        double score = 0.0;
        for (std::size_t i = 0; i < scores.rows; ++i) score += scores.row(i)[solver_.column_of[i]];
        const bool full = static_cast<std::int64_t>(found_.size()) >= k;
        if (full && score <= found_.begin()->score) return;
        if (full) found_.erase(found_.begin());
        if (copies_.each > 1) order_copies();
        found_.insert({score, serial_++, fixed, std::move(excluded), solver_.column_of, solver_.price});
    }

    // Gives the copies of a column to its rows in order, at the same score: rows that are fixed then have the first ones, and
    // leave the others as if there were as many less.
    void order_copies() {
        given_.assign(static_cast<std::size_t>(copies_.columns), 0);
        for (std::int32_t& column : solver_.column_of)
            if (column < copies_.columns) {
                const std::int64_t first = copies_.first(column);
                column = static_cast<std::int32_t>(first + given_[first]++);
            }
    }

    BestAssignment solver_;
    ColumnCopies copies_{};
    std::vector<std::int32_t> given_;  // how many copies, by their first
    std::set<Part> found_;
    std::int64_t serial_ = 0;
    std::vector<double> instead_;
};

}  // namespace structlearn
