#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "batch/ragged.hpp"
#include "linear/vector.hpp"
#include "matching/matching.hpp"
#include "parts/moves.hpp"

namespace structlearn {

// Which matchings there are, and their parts. All are local: one for every pair, (n, m) by row and column, and, with `alone`, one
// for every row and then one for every column without partner. Without, as many are matched as can be.
//
// An output is the column of every row, −1 for none.
struct MatchingShape {
    Ragged rows, columns;
    bool alone;
    const std::int32_t* known = nullptr;  // of all rows: the column that each must have, −1 for none, −2 for any; or null

    std::int64_t n_pairs(std::int64_t i) const { return rows.size(i) * columns.size(i); }
    std::int64_t n_local(std::int64_t i) const { return n_pairs(i) + (alone ? rows.size(i) + columns.size(i) : 0); }
};

// Matchings as a structure without sums, which are permanents, and without loss levels.
class MatchingStructure {
public:
    explicit MatchingStructure(const MatchingShape& shape) : shape_(shape) {}

    std::int64_t output_size(std::int64_t i) const { return shape_.rows.size(i); }
    std::int64_t n_local(std::int64_t i) const { return shape_.n_local(i); }
    std::int64_t n_shared() const { return 0; }
    void prepare(const double*) {}

    double best(std::int64_t i, const double* local, Codes& codes) {
        reduction_.read(read(i, local));
        codes.assign(static_cast<std::size_t>(output_size(i)), -1);
        if (!best_.run(reduction_.scores())) return minus_infinity;
        reduction_.partners(best_.column_of, codes.data());
        return score(i, local, codes.data());
    }
    double score(std::int64_t i, const double* local, const std::int32_t* codes) const {
        double sum = 0.0;
        each_part(i, codes, [&](std::int64_t part) { sum += local[part]; });
        return sum;
    }
    void k_best(std::int64_t i, const double* local, std::int64_t k, std::vector<Codes>& found, std::vector<double>& values) {
        reduction_.read(read(i, local));
        k_best_.run(reduction_.scores(), reduction_.branching(), k, [&](const auto& column_of, double) {
            Codes& codes = found.emplace_back(static_cast<std::size_t>(output_size(i)));
            reduction_.partners(column_of, codes.data());
            values.push_back(score(i, local, codes.data()));
        });
    }

    template <class Visit>
    void each_part(std::int64_t i, const std::int32_t* codes, Visit&& visit) const {
        const std::int64_t n = shape_.rows.size(i), m = shape_.columns.size(i), pairs = shape_.n_pairs(i);
        std::vector<std::uint8_t> taken(static_cast<std::size_t>(m), 0);
        for (std::int64_t row = 0; row < n; ++row) {
            if (codes[row] >= 0)
                visit(row * m + codes[row]), taken[codes[row]] = 1;
            else if (shape_.alone)
                visit(pairs + row);
        }
        for (std::int64_t column = 0; shape_.alone && column < m; ++column)
            if (!taken[column]) visit(pairs + n + column);
    }
    template <class Visit>
    void each_move(std::int64_t i, const std::int32_t* codes, const std::int32_t* other, Visit&& visit) const {
        moves_between_parts(*this, i, codes, other, visit);
    }

private:
    // The scores of an example, without what is known not to be; they live until the next call.
    MatchingScores read(std::int64_t i, const double* local) {
        const std::int64_t n = shape_.rows.size(i), m = shape_.columns.size(i), pairs = shape_.n_pairs(i);
        if (shape_.known) {
            known_scores_.assign(local, local + n_local(i));
            const std::int32_t* known = shape_.known + shape_.rows.begin(i);
            for (std::int64_t row = 0; row < n; ++row) {
                if (known[row] == -2) continue;
                for (std::int64_t column = 0; column < m; ++column)
                    if (column != known[row]) known_scores_[row * m + column] = minus_infinity;
                if (shape_.alone && known[row] >= 0) known_scores_[pairs + row] = minus_infinity;
            }
            local = known_scores_.data();
        }
        const MatrixView<double> table{local, static_cast<std::size_t>(n), static_cast<std::size_t>(m)};
        if (!shape_.alone) return {table};
        return {table, local + pairs, local + pairs + n};
    }

    MatchingShape shape_;
    MatchingReduction reduction_;
    BestAssignment best_;
    BestAssignments k_best_;
    std::vector<double> known_scores_;
};

}  // namespace structlearn
