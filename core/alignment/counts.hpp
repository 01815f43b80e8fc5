#pragma once

#include <algorithm>
#include <cstdint>

namespace structlearn {

// Expected numbers of deletions, or of insertions: of all of them, and of those with which a gap begins; by the letter that
// has no partner, and by the number of letters of the other sequence before it.
struct GapCounts {
    double *all, *all_beside, *firsts, *firsts_beside;

    void clear(std::int64_t letters, std::int64_t letters_beside) const {
        for (double* counts : {all, firsts}) std::fill_n(counts, letters, 0.0);
        for (double* counts : {all_beside, firsts_beside}) std::fill_n(counts, letters_beside + 1, 0.0);
    }
};

struct AlignmentCounts {
    double* match;  // (m, n)
    GapCounts deletion, insertion;
    double* pairs = nullptr;  // (m − 1, n − 1): of a match right before the match of the next two letters, or null

    void clear(std::int64_t m, std::int64_t n) const {
        std::fill_n(match, m * n, 0.0);
        deletion.clear(m, n), insertion.clear(n, m);
        if (pairs && m > 0 && n > 0) std::fill_n(pairs, (m - 1) * (n - 1), 0.0);
    }
};

}  // namespace structlearn
