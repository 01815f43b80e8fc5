#pragma once

#include <cstdint>
#include <vector>

#include "alignment/scores.hpp"

namespace structlearn {

// What the scores of gaps allow: all letters of one may score alike, the first one may have its own, or scores may depend on
// the place in the other sequence.
enum class GapKind { linear, affine, beside };

// The best alignment alone. The recursion is that of `AlignmentTables` over (max, +), in another order: the rows of a strip go
// along together, each one column behind the row above it, so that none waits for another and one instruction serves all
// of them. Of a cell only the choices are kept, in two to five bits.
class BestAlignment {
public:
    void run(const AlignmentScores& scores);

    double score() const { return score_; }

    // After `run`: one code a letter of s, the place of its partner in t, or −1. Of alignments with the same score the
    // earlier start or end is taken, and matches before deletions before insertions.
    void trace(std::int32_t* codes) const;

    static constexpr std::int64_t strip = 4;   // rows
    static constexpr std::int64_t cells = 12;  // of a row, whose choices share a word

private:
    // What is kept of a cell, and for local alignments one bit more: that a match after it is better not the first one.
    enum Choice : std::uint64_t {
        after_insertion = 1,    // what leads here is best with an insertion at last, not with a deletion or match
        after_deletion = 2,     // a deletion leads here better than a match
        deletion_goes_on = 4,   // of a deletion that leads to the cell below: it is not the first letter of its gap
        insertion_goes_on = 8,  // of an insertion that leads here; neither is kept of linear gaps
    };
    std::uint64_t goes_on() const { return gaps_ == GapKind::linear ? 4 : 16; }
    std::int64_t bits() const { return (gaps_ == GapKind::linear ? 2 : 4) + (ends_ == Ends::local); }

    template <Ends ends, GapKind gaps>
    void run_strips(const AlignmentScores& scores);
    void run_global(const AlignmentScores& scores);
    void run_semiglobal(const AlignmentScores& scores);
    void run_local(const AlignmentScores& scores);

    static GapKind kind_of_gaps(const AlignmentScores& scores);
    void prepare(const AlignmentScores& scores);
    std::uint64_t choices(std::int64_t i, std::int64_t j) const;
    Step best_step(std::int64_t i, std::int64_t j) const;

    std::int64_t m_ = 0, n_ = 0, words_ = 0;
    Ends ends_ = Ends::global;
    GapKind gaps_ = GapKind::linear;
    double score_ = 0.0;
    Step last_ = Step::start;
    std::int64_t i_ = 0, j_ = 0;          // where the last step led to
    std::vector<double> any_, deleted_;   // of the row above a strip: the best score, and that of a deletion from it
    std::vector<double> columns_[4];      // scores of gaps by column, in reverse
    std::vector<std::uint64_t> choices_;  // (strips, words of a row, rows of a strip)
};

}  // namespace structlearn
