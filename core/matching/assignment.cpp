#include "matching/assignment.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "linear/vector.hpp"

namespace structlearn {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// What stands for the columns that are left over where a row is expected.
constexpr std::int64_t nobody = -1;

}  // namespace

bool BestAssignment::run(MatrixView<double> scores) {
    column_of.assign(scores.rows, -1);
    row_of.assign(scores.columns, -1);
    price.assign(scores.columns, 0.0);
    stuck = -1;
    if (scores.rows == 0) return true;
    // Columns that are left over must keep a price of 0, so that only those of square problems can begin with others.
    if (scores.rows == scores.columns) {
        reduce_columns(scores);
        raise_prices(scores);
    }
    free_.clear();
    for (std::size_t i = 0; i < scores.rows; ++i)
        if (column_of[i] < 0) free_.push_back(static_cast<std::int32_t>(i));
    for (int pass = 0; pass < 2 && !free_.empty(); ++pass) reduce_rows(scores);
    return std::ranges::all_of(free_, [&](std::int32_t row) { return augment(scores, row); });
}

// The price of a column is its largest score; it goes to the row that has it, if that has none yet.
void BestAssignment::reduce_columns(MatrixView<double> scores) {
    const auto n = static_cast<std::int64_t>(scores.columns);
    std::fill(price.begin(), price.end(), minus_infinity);
    from_.assign(scores.columns, -1);
    for (std::size_t i = 0; i < scores.rows; ++i)
        raise_maxima(n, scores.row(i), static_cast<std::int32_t>(i), price.data(), from_.data());
    for (std::int64_t j = n - 1; j >= 0; --j) {
        if (from_[j] < 0)
            price[j] = 0.0;
        else if (std::int32_t& column = column_of[from_[j]]; column == -1)
            column = static_cast<std::int32_t>(j), row_of[j] = from_[j];
        else if (column >= 0)
            column = -2 - column;
    }
}

// What a row would lose with its second best column is added to the price of its own, unless it is the first of several
// columns: those it would have for the same.
void BestAssignment::raise_prices(MatrixView<double> scores) {
    for (std::size_t i = 0; i < scores.rows; ++i) {
        if (column_of[i] < -1) {
            column_of[i] = -2 - column_of[i];
        } else if (column_of[i] >= 0) {
            const auto [first, second] = top_two(static_cast<std::int64_t>(scores.columns), scores.row(i), price.data());
            if (second > minus_infinity) price[column_of[i]] += first - second;
        }
    }
}

// Of the columns that are as good as this one, the first that no row has; if there is none, the next one.
std::int64_t BestAssignment::free_among_equals(std::int64_t n, const double* score, std::int64_t column, double best) const {
    const std::int64_t next = find_difference(column + 1, n, score, price.data(), best);
    for (std::int64_t j = next; j < n; j = find_difference(j + 1, n, score, price.data(), best))
        if (row_of[j] < 0) return j;
    return next < n ? next : column;
}

// Rows without a column take their best one, and raise its price until it is as good as their second best.
void BestAssignment::reduce_rows(MatrixView<double> scores) {
    const auto n = static_cast<std::int64_t>(scores.columns);
    std::size_t steps = 0;
    waiting_.clear();
    for (std::size_t at = 0; at < free_.size();) {
        const std::int32_t row = free_[at++];
        const double* score = scores.row(static_cast<std::size_t>(row));
        const auto [first, second] = top_two(n, score, price.data());
        if (first == minus_infinity) {
            waiting_.push_back(row);
            continue;
        }
        std::int64_t column = find_difference(0, n, score, price.data(), first);
        const double raised = second == minus_infinity ? price[column] : price[column] + (first - second);
        // Steps so small that prices round to what they were, or rows that outbid each other without end, are left to the
        // search.
        const bool rises = raised > price[column] && ++steps <= 4 * scores.rows;
        if (rises) {
            price[column] = raised;
        } else if (row_of[column] >= 0 && second == first) {
            column = free_among_equals(n, score, column, first);
        }
        const std::int32_t displaced = std::exchange(row_of[column], row);
        column_of[row] = static_cast<std::int32_t>(column);
        if (displaced < 0) continue;
        column_of[displaced] = -1;
        if (rises)
            free_[--at] = displaced;
        else
            waiting_.push_back(displaced);
    }
    std::swap(free_, waiting_);
}

void BestAssignment::begin_search() {
    open_price_ = price;
    distance_.assign(price.size(), infinity);
    from_.resize(price.size());
    scanned_.clear(), ready_.clear();
    not_free_.resize(price.size());
    for (std::size_t j = 0; j < price.size(); ++j) not_free_[j] = row_of[j] < 0 ? 0.0 : infinity;
}

// How far columns are by way of this row.
Nearest BestAssignment::look(const double* score, double base, std::int64_t row) {
    return relax(static_cast<std::int64_t>(price.size()), base, open_price_.data(), score, static_cast<std::int32_t>(row),
                 not_free_.data(), distance_.data(), from_.data());
}

// The next of the columns that are this far. Many may be, and are looked for together.
std::int64_t BestAssignment::next_at(double distance) {
    if (ready_.empty() || ready_at_ != distance) {
        const auto n = static_cast<std::int64_t>(distance_.size());
        ready_.clear(), ready_at_ = distance;
        for (std::int64_t j = find_value(0, n, distance_.data(), distance); j < n;
             j = find_value(j + 1, n, distance_.data(), distance))
            ready_.push_back(static_cast<std::int32_t>(j));
    }
    const std::int32_t column = ready_.back();
    ready_.pop_back();
    return column;
}

// The first column this far that no row has.
std::int64_t BestAssignment::free_at(double distance) const {
    const auto n = static_cast<std::int64_t>(distance_.size());
    std::int64_t column = find_value(0, n, distance_.data(), distance);
    while (row_of[column] >= 0) column = find_value(column + 1, n, distance_.data(), distance);
    return column;
}

void BestAssignment::scan(std::int64_t column, double distance) {
    scanned_.push_back({column, distance});
    distance_[column] = open_price_[column] = infinity;
}

// Slacks stay at least 0, and become 0 along the path to what is at this distance.
void BestAssignment::shift_prices(double distance) {
    for (const Scanned& one : scanned_) price[one.column] += distance - one.distance;
}

bool BestAssignment::augment(MatrixView<double> scores, std::int64_t row) {
    begin_search();
    double base = 0.0;
    for (std::int64_t i = row;;) {
        const double* score = scores.row(static_cast<std::size_t>(i));
        const auto [least, end] = look(score, base, i);
        if (least == infinity) {
            stuck = row;
            return false;
        }
        if (end == least) {
            shift_prices(least);
            assign_back(row, free_at(least));
            return true;
        }
        const std::int64_t column = next_at(least);
        scan(column, least);
        i = row_of[column];
        base = least + value(scores, i);
    }
}

void BestAssignment::assign_back(std::int64_t row, std::int64_t column) {
    for (std::int64_t i = -1; i != row;) {
        i = from_[column];
        row_of[column] = static_cast<std::int32_t>(i);
        column = std::exchange(column_of[i], static_cast<std::int32_t>(column));
    }
}

// The columns that are left over stand as if they were of one more row, whose scores are 0: what frees one takes another.
bool BestAssignment::repair(MatrixView<double> scores, std::int64_t fixed, std::int64_t row, std::int64_t freed,
                            const double* instead) {
    const auto n = static_cast<std::int64_t>(scores.columns);
    begin_search();
    for (std::int64_t i = 0; i < fixed; ++i) open_price_[column_of[i]] = infinity;
    nothing_.resize(scores.columns, 0.0);
    std::int64_t left_over = -1;
    double left_over_at = 0.0, base = 0.0, least = infinity;
    const double* score = instead;
    for (std::int64_t i = row;;) {
        const Nearest nearest = look(score, base, i);
        least = nearest.any;
        if (least == infinity) return false;
        if (distance_[freed] == least) break;
        if (nearest.end > least) {
            const std::int64_t column = next_at(least);
            scan(column, least);
            i = row_of[column];
            score = scores.row(static_cast<std::size_t>(i));
            base = least + value(scores, i);
        } else {
            left_over = free_at(least), left_over_at = least;
            for (std::int64_t j = 0; j < n; ++j)
                if (row_of[j] < 0 && j != freed) scan(j, least);
            i = nobody;
            score = nothing_.data();
            base = least;
        }
    }
    shift_prices(least);
    if (left_over >= 0)
        for (double& one : price) one -= least - left_over_at;
    for (std::int64_t column = freed, i = nobody; i != row;) {
        i = from_[column];
        row_of[column] = static_cast<std::int32_t>(i);
        column = i == nobody ? left_over : std::exchange(column_of[i], static_cast<std::int32_t>(column));
    }
    return true;
}

}  // namespace structlearn
