#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "linear/dense.hpp"
#include "matching/assignment.hpp"
#include "matching/k_best.hpp"

namespace structlearn {

// Scores of the pairs of rows and columns, and of rows and columns without partner. If those are not given, as many are matched
// as can be, and to be left over scores 0. −∞ forbids: a pair, or to have no partner.
//
// With a fertility above 1, rows can have as many partners; rows without partner then score finite numbers, for every partner
// that is missing, and each after the first may have a price: `further` is nowhere above 0, or not given.
struct MatchingScores {
    MatrixView<double> pairs;
    const double *rows = nullptr, *columns = nullptr;
    std::int64_t fertility = 1;
    const double* further = nullptr;

    bool optional() const { return rows != nullptr; }
};

// Matchings as assignments. Whether they are those of rows or those of columns, each row can be left alone by a column of its
// own; what columns score alone is taken off their pairs. Where rows and columns both must have partners, each column also has
// a row of its own, and the problem is square. Rows that can have several partners are there as often, and columns choose: since
// no copy is better than the first, they are taken in order.
class MatchingReduction {
public:
    // The scores that are given must stay as long as the reduction is used.
    void read(const MatchingScores& given);

    MatrixView<double> scores() const { return scores_; }
    // How many rows tell assignments apart.
    std::int64_t branching() const { return n_; }
    ColumnCopies copies() const { return {given_.fertility, m_}; }

    // The partners of every row that was given, as many as there can be, in increasing order and then −1 for none.
    void partners(const std::vector<std::int32_t>& column_of, std::int32_t* out) const;
    // u and v, with u_i + v_j at least the score of the pair, u_i and v_j at least those without partner, and all of them as
    // large where the matching has them: their sum is the best score.
    void potentials(const BestAssignment& best, double* rows, double* columns) const;
    // Where there is no matching: a row that cannot be matched, or −2 less a column.
    std::int64_t unmatched(std::int64_t stuck) const {
        const bool of_columns = transposed_ != (stuck >= n_);
        const std::int64_t which = stuck < n_ ? stuck : stuck - n_;
        return of_columns ? -2 - which : which;
    }

private:
    void copy_rows();
    void add_own_columns(const double* pairs, const double* rows, const double* columns, bool square);

    MatchingScores given_{};
    std::int64_t n_ = 0, m_ = 0;  // of the side whose assignments they are, and of the other
    bool transposed_ = false;
    MatrixView<double> scores_{};
    std::vector<double> transposed_pairs_, extended_;
};

// The score of a matching, given the partner of every row.
double matching_score(const MatchingScores& scores, const std::int32_t* partners);

// Writes the partners of the rows of the best matching and its potentials; returns its score, −∞ if there is none.
double best_matching(MatrixView<double> pairs, std::optional<std::span<const double>> rows,
                           std::optional<std::span<const double>> columns, std::span<std::int32_t> partners,
                           std::span<double> row_potentials, std::span<double> column_potentials);

// Where there is no matching, a row that cannot be matched, or −2 less a column.
std::int64_t unmatched_in_best(MatrixView<double> pairs, std::optional<std::span<const double>> rows,
                               std::optional<std::span<const double>> columns);

// The partners of the rows in up to k matchings, best first, one after another, and their scores.
std::tuple<std::vector<std::int32_t>, std::vector<double>> k_best_matchings(
    MatrixView<double> pairs, std::optional<std::span<const double>> rows,
    std::optional<std::span<const double>> columns, std::int64_t k);

}  // namespace structlearn
