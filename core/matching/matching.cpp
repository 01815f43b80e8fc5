#include "matching/matching.hpp"

#include <algorithm>

#include "linear/vector.hpp"

namespace structlearn {

namespace {

bool forbids(const double* alone, std::size_t n) {
    return std::any_of(alone, alone + n, [](double score) { return score == minus_infinity; });
}

// In squares that stay in the nearest cache.
void transpose(MatrixView<double> from, std::vector<double>& to) {
    constexpr std::size_t block = 32;
    to.resize(from.rows * from.columns);
    for (std::size_t top = 0; top < from.rows; top += block)
        for (std::size_t left = 0; left < from.columns; left += block)
            for (std::size_t i = top; i < std::min(top + block, from.rows); ++i)
                for (std::size_t j = left; j < std::min(left + block, from.columns); ++j)
                    to[j * from.rows + i] = from.row(i)[j];
}

MatchingScores given(MatrixView<double> pairs, const std::optional<std::span<const double>>& rows,
                     const std::optional<std::span<const double>>& columns) {
    return {pairs, rows ? rows->data() : nullptr, columns ? columns->data() : nullptr};
}

}  // namespace

void MatchingReduction::read(const MatchingScores& given) {
    given_ = given;
    if (given.fertility > 1) return copy_rows();
    const MatrixView<double> pairs = given.pairs;
    const bool rows_must = given.optional() && forbids(given.rows, pairs.rows);
    const bool columns_must = given.optional() && forbids(given.columns, pairs.columns);
    transposed_ = given.optional() ? columns_must && !rows_must : pairs.rows > pairs.columns;
    scores_ = pairs;
    if (transposed_) {
        transpose(pairs, transposed_pairs_);
        scores_ = {transposed_pairs_.data(), pairs.columns, pairs.rows};
    }
    n_ = static_cast<std::int64_t>(scores_.rows), m_ = static_cast<std::int64_t>(scores_.columns);
    if (!given.optional()) return;
    const double *rows = given.rows, *columns = given.columns;
    if (transposed_) std::swap(rows, columns);
    add_own_columns(scores_.values, rows, columns, rows_must && columns_must);
}

void MatchingReduction::copy_rows() {
    const auto rows = static_cast<std::int64_t>(given_.pairs.rows), copies = given_.fertility;
    transposed_ = true;
    n_ = static_cast<std::int64_t>(given_.pairs.columns), m_ = rows * copies;
    const std::int64_t width = m_ + n_;
    extended_.assign(static_cast<std::size_t>(n_ * width), minus_infinity);
    for (std::int64_t j = 0; j < n_; ++j) {
        double* row = extended_.data() + j * width;
        for (std::int64_t i = 0; i < rows; ++i) {
            const double score = given_.pairs.row(static_cast<std::size_t>(i))[j] - given_.rows[i];
            row[i * copies] = score;
            std::fill_n(row + i * copies + 1, copies - 1, score + (given_.further ? given_.further[i] : 0.0));
        }
        row[m_ + j] = given_.columns[j];
    }
    scores_ = {extended_.data(), static_cast<std::size_t>(n_), static_cast<std::size_t>(width)};
}

void MatchingReduction::add_own_columns(const double* pairs, const double* rows, const double* columns, bool square) {
    const std::int64_t width = m_ + n_, height = square ? width : n_;
    extended_.assign(static_cast<std::size_t>(height * width), minus_infinity);
    for (std::int64_t i = 0; i < n_; ++i) {
        double* row = extended_.data() + i * width;
        for (std::int64_t j = 0; j < m_; ++j) row[j] = pairs[i * m_ + j] - (square ? 0.0 : columns[j]);
        row[m_ + i] = rows[i];
    }
    for (std::int64_t j = 0; square && j < m_; ++j) {
        double* row = extended_.data() + (n_ + j) * width;
        row[j] = columns[j];
        std::fill_n(row + m_, n_, 0.0);
    }
    scores_ = {extended_.data(), static_cast<std::size_t>(height), static_cast<std::size_t>(width)};
}

void MatchingReduction::partners(const std::vector<std::int32_t>& column_of, std::int32_t* out) const {
    if (transposed_) std::fill_n(out, m_, -1);
    for (std::int64_t i = 0; i < n_; ++i) {
        const std::int32_t column = column_of[i] < m_ ? column_of[i] : -1;
        if (!transposed_)
            out[i] = column;
        else if (column >= 0)
            *std::find(out + column / given_.fertility * given_.fertility, out + m_, -1) = static_cast<std::int32_t>(i);
    }
}

void MatchingReduction::potentials(const BestAssignment& best, double* rows, double* columns) const {
    const bool square = static_cast<std::int64_t>(scores_.rows) > n_;
    const double* alone = transposed_ ? given_.rows : given_.columns;
    if (transposed_) std::swap(rows, columns);
    // Those of the rows and columns that were added belong to the ones they were added for.
    for (std::int64_t i = 0; i < n_; ++i)
        rows[i] = best.value(scores_, i) + (given_.optional() ? best.price[m_ + i] : 0.0);
    for (std::int64_t j = 0; j < m_; ++j)
        columns[j] = best.price[j] + (square ? best.value(scores_, n_ + j) : given_.optional() ? alone[j] : 0.0);
}

double matching_score(const MatchingScores& scores, const std::int32_t* partners) {
    double sum = 0.0;
    std::vector<std::uint8_t> taken(scores.pairs.columns, 0);
    for (std::size_t i = 0; i < scores.pairs.rows; ++i) {
        if (partners[i] >= 0)
            sum += scores.pairs.row(i)[partners[i]], taken[partners[i]] = 1;
        else if (scores.optional())
            sum += scores.rows[i];
    }
    for (std::size_t j = 0; scores.optional() && j < taken.size(); ++j)
        if (!taken[j]) sum += scores.columns[j];
    return sum;
}

double best_matching(MatrixView<double> pairs, std::optional<std::span<const double>> rows,
                     std::optional<std::span<const double>> columns, std::span<std::int32_t> partners,
                     std::span<double> row_potentials, std::span<double> column_potentials) {
    const MatchingScores scores = given(pairs, rows, columns);
    MatchingReduction reduction;
    BestAssignment best;
    reduction.read(scores);
    if (!best.run(reduction.scores())) return minus_infinity;
    reduction.partners(best.column_of, partners.data());
    reduction.potentials(best, row_potentials.data(), column_potentials.data());
    return matching_score(scores, partners.data());
}

std::int64_t unmatched_in_best(MatrixView<double> pairs, std::optional<std::span<const double>> rows,
                               std::optional<std::span<const double>> columns) {
    MatchingReduction reduction;
    BestAssignment best;
    reduction.read(given(pairs, rows, columns));
    return best.run(reduction.scores()) ? -1 : reduction.unmatched(best.stuck);
}

std::tuple<std::vector<std::int32_t>, std::vector<double>> k_best_matchings(
    MatrixView<double> pairs, std::optional<std::span<const double>> rows,
    std::optional<std::span<const double>> columns, std::int64_t k) {
    const MatchingScores scores = given(pairs, rows, columns);
    MatchingReduction reduction;
    reduction.read(scores);
    std::vector<std::int32_t> partners;
    std::vector<double> values;
    BestAssignments().run(reduction.scores(), reduction.branching(), k, reduction.copies(), [&](const auto& column_of, double) {
        partners.resize(partners.size() + pairs.rows);
        std::int32_t* out = partners.data() + values.size() * pairs.rows;
        reduction.partners(column_of, out);
        values.push_back(matching_score(scores, out));
    });
    return {std::move(partners), std::move(values)};
}

}  // namespace structlearn
