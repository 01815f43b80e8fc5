#pragma once

#include <cstdint>

namespace structlearn {

// Which ends of the sequences are free. global: none; semiglobal: unaligned ends of one sequence, where the other has none
// there; local: all that lies before the first and after the last match.
enum class Ends { global, semiglobal, local };

// Scores of one pair of sequences, of lengths m and n. Deleting s_i after j letters of t scores next[i] + next_beside[j],
// and first[i] + first_beside[j] where the gap begins; inserting t_j after i letters of s likewise.
struct GapScores {
    const double *first, *next;                // (letters of the sequence,)
    const double *first_beside, *next_beside;  // (letters of the other sequence + 1,)
};

struct AlignmentScores {
    std::int64_t m, n;
    const double* const* match;  // m rows of n
    GapScores deletion, insertion;
    Ends ends;
    // Of every letter of s the place of its known partner, or −1; null for none. Matches that cross one have −∞.
    const std::int32_t* known = nullptr;
    std::int64_t first_known = m, last_known = -1;  // letters of s

    bool is_known(std::int64_t i) const { return known && known[i] >= 0; }
};

// What a path did last.
enum class Step { start, match, deletion, insertion };

}  // namespace structlearn
