#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "alignment/blocks.hpp"
#include "alignment/counts.hpp"
#include "alignment/scores.hpp"

namespace structlearn {

// Sums over all alignments of products of exp(score): the recursion of `AlignmentTables` without logarithms. The columns of
// a row are cut into blocks, and all that a row has in a block shares a power of two, so that only values near each other have to
// be of similar size. What is too small beside its neighbours is made larger. That there is too much of that to be sure of the
// sums, or that single scores are too large for it, is seen, and then there is no answer.
class AlignmentProducts {
public:
    // log Σ_y exp F(y), and writes all marginals; or nothing, and may have written some of them.
    std::optional<double> run(const AlignmentScores& scores, const AlignmentCounts& counts);

private:
    // What multiplies between a row of cells and the one above it, or below it on the way back.
    struct RowFactors {
        const double* match;  // (width,), by the column that a match leads to
        double deletion_first, deletion_next;
        double insertion_first, insertion_next;  // within the row
        bool after_match;                        // whether insertions may come after matches
        bool beside;                             // whether factors of deletions by column, of insertions by row, are not all 1
    };
    // Where alignments may end in a row: after a match, an insertion, a deletion, (width,) each.
    struct RowEnds {
        const double *match, *insertion, *deletion;
    };

    bool prepare(const AlignmentScores& scores);
    bool find_sum(const AlignmentScores& scores);
    bool find_marginals(const AlignmentScores& scores, const AlignmentCounts& counts);
    bool read_matches(const AlignmentScores& scores);
    void read_columns(const AlignmentScores& scores);
    RowFactors factors(const AlignmentScores& scores, std::int64_t i, std::int64_t letter) const;
    RowEnds ends(const AlignmentScores& scores, std::int64_t i) const;
    const double* starts(const AlignmentScores& scores, std::int64_t i) const;
    void add_ends(std::int64_t i, const RowEnds& ends);

    bool forward(std::int64_t i, const RowFactors& row, const double* starts, bool column_0_starts);
    bool backward(std::int64_t i, const RowFactors& row, const RowEnds& ends, bool column_0_starts,
                  const AlignmentCounts& counts);

    template <bool beside>
    bool go_forward(std::int64_t i, const RowFactors& row, const double* starts, bool column_0_starts);
    template <bool beside>
    bool go_back(std::int64_t i, const RowFactors& row, const RowEnds& ends, bool column_0_starts,
                 const AlignmentCounts& counts);

    std::int64_t m_ = 0, n_ = 0, width_ = 0, n_blocks_ = 0;
    bool beside_ = false;
    blocks::WideNumber z_;
    std::int64_t heaviest_ = 0;  // the largest exponent of what was made larger in a block, together with what follows
    std::vector<double> by_column_[7];                  // (width + block,), see Column in products.cpp
    std::vector<double> matches_;                       // (distinct rows, width)
    std::vector<const double*> match_rows_;             // (m,)
    std::vector<double> zeros_, ones_, first_, last_;   // (width + block,): of all columns that there are, of 0, of n
    std::vector<double> matched_, deleted_, inserted_;  // (m + 1, width)
    // (m + 1, blocks): of the tables, and that at which too small values were made larger, if it was larger.
    std::vector<std::int64_t> exponents_, raised_at_;
    std::vector<double> any_;                           // (width,)
    // On the way back: what follows on a match, and on a deletion.
    std::vector<double> after_match_, after_deletion_;  // (width,)
    std::vector<std::int64_t> after_exponents_;         // (blocks,)
    std::vector<double> sums_[4];                       // (width,): counts of gaps by column
    std::vector<double> match_counts_, pair_counts_;    // (width,): of one row
};

}  // namespace structlearn
