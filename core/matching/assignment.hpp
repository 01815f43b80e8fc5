#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linear/dense.hpp"
#include "matching/scans.hpp"

namespace structlearn {

// The assignment of rows to columns, a column for every row and each to one row at most, with the largest sum of scores; there
// are at least as many columns as rows. A score of −∞ forbids a pair.
//
// Shortest augmenting paths (Jonker and Volgenant 1987), for sums to be made large. Columns have prices p, which fall on
// nobody: the pair (i, j) has the slack u_i + p_j − score(i, j) ≥ 0, with u_i = max_j (score(i, j) − p_j), and is 0 where i has
// j. If there are more columns than rows, no price is below 0, and those of the columns that are left are 0. So Σ u + Σ p is
// the score of the assignment, and no other has more.
class BestAssignment {
public:
    // False if every assignment is forbidden; `stuck` is then a row for which no column is left.
    bool run(MatrixView<double> scores);

    // Goes on from the assignment of rows to columns that is there, with prices that belong to it, when the one row that has
    // no column lost it: the best assignment that leaves the first `fixed` rows as they are. `instead` takes the place of the
    // row's scores. Whoever calls has freed the row's column, and says which it was.
    bool repair(MatrixView<double> scores, std::int64_t fixed, std::int64_t row, std::int64_t freed, const double* instead);

    std::vector<std::int32_t> column_of;  // of the rows, −1 for none
    std::vector<std::int32_t> row_of;     // of the columns, −1 for none
    std::vector<double> price;            // of the columns
    std::int64_t stuck = -1;

    // u_i, once the row has a column.
    double value(MatrixView<double> scores, std::int64_t i) const {
        return scores.row(static_cast<std::size_t>(i))[column_of[i]] - price[column_of[i]];
    }

private:
    void reduce_columns(MatrixView<double> scores);
    void raise_prices(MatrixView<double> scores);
    void reduce_rows(MatrixView<double> scores);
    std::int64_t free_among_equals(std::int64_t n, const double* score, std::int64_t column, double best) const;
    bool augment(MatrixView<double> scores, std::int64_t row);

    void begin_search();
    Nearest look(const double* score, double base, std::int64_t row);
    std::int64_t next_at(double distance);
    std::int64_t free_at(double distance) const;
    void scan(std::int64_t column, double distance);
    void shift_prices(double distance);
    void assign_back(std::int64_t row, std::int64_t column);

    // The search from one row: how far open columns are, from which row; what they cost, ∞ once they are scanned.
    std::vector<double> distance_, open_price_;
    std::vector<std::int32_t> from_;
    struct Scanned {
        std::int64_t column;
        double distance;
    };
    std::vector<Scanned> scanned_;
    std::vector<double> not_free_;         // 0 for columns that no row has, ∞ for the others
    std::vector<std::int32_t> ready_;      // columns at the distance `ready_at_` that are to be scanned
    double ready_at_ = 0.0;
    std::vector<std::int32_t> free_, waiting_;
    std::vector<double> nothing_;  // scores of no row, for the columns that are left over
};

}  // namespace structlearn
