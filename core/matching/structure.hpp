#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "batch/ragged.hpp"
#include "linear/vector.hpp"
#include "matching/matching.hpp"
#include "parts/moves.hpp"

namespace structlearn {

// Which matchings there are, and their parts. All are local: one for every pair, (n, m) by row and column, and, with `alone`, one
// for every row, which it has for each partner that it lacks, and then one for every column without partner. Without, as many
// are matched as can be. Rows can have `fertility` partners, more than one with `alone` only; with `further` there is last
// a part for every row, which it has for each partner after the first, and whose score must not be above 0.
//
// An output is the columns of every row, as many as there can be, in increasing order and then −1 for none.
struct MatchingShape {
    Ragged rows, columns;
    bool alone;
    std::int64_t fertility = 1;
    bool further = false;
    Ragged parts{};                           // where those of the examples begin in `forbidden`
    const std::uint8_t* forbidden = nullptr;  // pairs, and to have no partner, that are not possible; or null

    std::int64_t n_pairs(std::int64_t i) const { return rows.size(i) * columns.size(i); }
    std::int64_t n_local(std::int64_t i) const {
        return n_pairs(i) + (alone ? rows.size(i) + columns.size(i) : 0) + (further ? rows.size(i) : 0);
    }
};

// Matchings as a structure without sums, which are permanents, and without loss levels.
class MatchingStructure {
public:
    explicit MatchingStructure(const MatchingShape& shape) : shape_(shape) {}

    std::int64_t output_size(std::int64_t i) const { return shape_.rows.size(i) * shape_.fertility; }
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
        k_best_.run(reduction_.scores(), reduction_.branching(), k, reduction_.copies(), [&](const auto& column_of, double) {
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
            const std::int32_t* partners = codes + row * shape_.fertility;
            for (std::int64_t k = 0; k < shape_.fertility; ++k) {
                if (partners[k] >= 0) {
                    visit(row * m + partners[k]), taken[partners[k]] = 1;
                    if (shape_.further && k > 0) visit(pairs + n + m + row);
                } else if (shape_.alone) {
                    visit(pairs + row);
                }
            }
        }
        for (std::int64_t column = 0; shape_.alone && column < m; ++column)
            if (!taken[column]) visit(pairs + n + column);
    }
    template <class Visit>
    void each_move(std::int64_t i, const std::int32_t* codes, const std::int32_t* other, Visit&& visit) const {
        moves_between_parts(*this, i, codes, other, visit);
    }

private:
    // The scores of an example, without what is forbidden; they live until the next call.
    MatchingScores read(std::int64_t i, const double* local) {
        const std::int64_t n = shape_.rows.size(i), m = shape_.columns.size(i), pairs = shape_.n_pairs(i);
        if (shape_.forbidden) {
            allowed_scores_.assign(local, local + n_local(i));
            for (std::int64_t part = 0; part < n_local(i); ++part)
                if (shape_.forbidden[shape_.parts.begin(i) + part]) allowed_scores_[part] = minus_infinity;
            local = allowed_scores_.data();
        }
        const MatrixView<double> table{local, static_cast<std::size_t>(n), static_cast<std::size_t>(m)};
        if (!shape_.alone) return {table};
        const double* further = shape_.further ? local + pairs + n + m : nullptr;
        if (further && std::any_of(further, further + n, [](double score) { return score > 0.0; }))
            throw std::invalid_argument(
                "the price of further partners is below 0, and decoders are exact only where none is worth more than "
                "the one before; StructuralSVM(…, nonnegative='further') keeps it from that");
        return {table, local + pairs, local + pairs + n, shape_.fertility, further};
    }

    MatchingShape shape_;
    MatchingReduction reduction_;
    BestAssignment best_;
    BestAssignments k_best_;
    std::vector<double> allowed_scores_;
};

}  // namespace structlearn
