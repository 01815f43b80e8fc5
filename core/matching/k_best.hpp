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

// The k best assignments of rows to columns (Murty 1968). Those that are not yet found are parted by the first row in which they
// differ from one that is: rows before it are fixed, and some of its columns excluded. Each part goes on from the prices of the
// one that it comes from, by a single search. Only the first `branching` rows tell assignments apart.
class BestAssignments {
public:
    // Calls visit(column_of, score) for up to k of them, best first.
    template <class Visit>
    void run(MatrixView<double> scores, std::int64_t branching, std::int64_t k, Visit&& visit) {
        found_.clear(), serial_ = 0;
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
            for (const std::int32_t column : excluded) instead_[column] = minus_infinity;
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
        found_.insert({score, serial_++, fixed, std::move(excluded), solver_.column_of, solver_.price});
    }

    BestAssignment solver_;
    std::set<Part> found_;
    std::int64_t serial_ = 0;
    std::vector<double> instead_;
};

}  // namespace structlearn
