#include "alignment/best.hpp"

#include <algorithm>
#include <cstring>

#include "linear/vector.hpp"

// Values wider than the registers of the baseline are handed from function to function, all of which are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace structlearn {

namespace {

constexpr std::int64_t strip = BestAlignment::strip;
static_assert(strip == lanes);
constexpr std::int64_t behind = strip;  // no less, so that the row above is there

// One number for every row of a strip, one yes or no, −1 or 0, and one word.
using Column = Lanes;
using Bits = std::int64_t __attribute__((vector_size(sizeof(Lanes))));
using Words = std::uint64_t __attribute__((vector_size(sizeof(Lanes))));

#define INLINE [[gnu::always_inline]] inline

INLINE Column all(double value) { return Column{value, value, value, value}; }
INLINE Column read(const double* from) {
    Column out;
    load(from, out);
    return out;
}
INLINE Column larger(const Column& a, const Column& b) { return a < b ? b : a; }

// Every row gets what the row above had, the first one `above`.
INLINE Column down(double above, const Column& a) { return Column{above, a[0], a[1], a[2]}; }

// The entries of `from` for the rows of a strip, 0 beyond the last.
INLINE Column rows(const double* from, std::int64_t begin, std::int64_t end) {
    double values[strip] = {};
    for (std::int64_t r = 0; r < std::min(strip, end - begin); ++r) values[r] = from[begin + r];
    return read(values);
}

// rows[r][d]; or, given the length of the rows, of which row r begins at r + 1, what is nearest to that.
INLINE Column gather(const double* const* rows, std::int64_t d, std::int64_t length) {
    auto at = [=](std::int64_t r) { return length ? std::clamp(d, r + 1, r + length) : d; };
    const double a = rows[0][at(0)], b = rows[1][at(1)], c = rows[2][at(2)], e = rows[3][at(3)];
    return Column{a, b, c, e};
}

constexpr Bits row_numbers{0, 1, 2, 3};

// The rows below row `above`, of which two scores are given by column: the best one, and that of a deletion from it. They are
// replaced by those of the last row. Rows that are not yet at column 0, or beyond column n, read and write beside them.
template <Ends ends, GapKind gaps>
class Strip {
public:
    INLINE Strip(const AlignmentScores& scores, std::int64_t above, const std::vector<double>* columns, double* any,
                 double* deleted, std::uint64_t* word)
        : n(scores.n),
          last_row(scores.m - 1 - above),
          insertion_first(rows(scores.insertion.first_beside, above + 1, scores.m + 1)),
          insertion_next(rows(scores.insertion.next_beside, above + 1, scores.m + 1)),
          deletion_first(rows(scores.deletion.first, above + 1, scores.m)),
          deletion_next(rows(scores.deletion.next, above + 1, scores.m)),
          any_row(any),
          deleted_row(deleted),
          word(word) {
        for (std::int64_t r = 0; r < strip; ++r) match[r] = scores.match[std::min(above + r, scores.m - 1)] - r - 1;
        for (int k = 0; k < 4; ++k) by_column[k] = columns[k].data() + n + strip - 1;
    }

    // Row r goes to column d − r. At the edges some rows are before column 0 or after column n.
    template <bool edge>
    INLINE void step(std::int64_t d) {
        const Bits column = d - row_numbers;
        const Column up = down(any_row[d], any);
        const Column deleted = down(deleted_row[d], next_deletion);
        const Column matched = diagonal + gather(match, d, edge ? n : 0);
        diagonal = up;
        const Column opened = opening + sum<beside, true>(insertion_first, by_column[0] - d);
        const Column extended = inserted + sum<beside, true>(insertion_next, by_column[1] - d);
        const Column either = larger(matched, deleted);
        const Column first = matched + sum<true, beside>(deletion_first, by_column[2] - d);
        const Column next = deleted + sum<true, beside>(deletion_next, by_column[3] - d);
        if constexpr (gaps == GapKind::linear) {
            // All letters of a gap score alike: what is best after them is what was best before.
            inserted = opened;
            next_deletion = either + deletion_first;
            any = opening = larger(either, inserted);
        } else {
            inserted = larger(opened, extended);
            next_deletion = larger(first, next);
            any = larger(either, inserted);
            // In the last row of a semiglobal alignment insertions come after deletions only.
            opening = ends == Ends::semiglobal ? row_numbers == last_row ? deleted : either : either;
        }
        if constexpr (ends == Ends::local) {
            note(any > 0.0);
            any = larger(any, all(0.0));
        }
        if constexpr (gaps != GapKind::linear) {
            note(extended > opened);
            note(next > first);
        }
        note(deleted > matched);
        note(inserted > either);
        if (--room == 0) write();
        if constexpr (edge) {
            any = column < 0 ? all(minus_infinity) : any;
            if (ends == Ends::semiglobal) any = column == 0 ? all(0.0) : any;
            if (d == n + last_row) {
                // Copies, so that the ones above can stay in registers.
                const Column any_here = any, inserted_here = inserted;
                last_any = any_here[last_row], last_inserted = inserted_here[last_row];
            }
        }
        if constexpr (ends != Ends::global) {
            Bits may_end = ends == Ends::local ? row_numbers <= last_row : row_numbers == last_row;
            if (edge && ends == Ends::semiglobal) may_end |= column == n;
            if (edge) may_end &= (column <= n) & (row_numbers <= last_row);
            const Bits better = may_end & (matched > best);
            best = better ? matched : best;
            best_column = better ? column : best_column;
        }
        any_row[d - strip + 1] = any[strip - 1];
        deleted_row[d - strip + 1] = next_deletion[strip - 1];
    }

    INLINE void finish(std::int64_t bits) {
        record <<= static_cast<std::uint64_t>(bits * room);
        write();
    }

    double last_any = minus_infinity, last_inserted = minus_infinity;  // of cell (m, n), if it is in this strip
    Column best = all(minus_infinity);                                 // the best match of all that may be the last one
    Bits best_column{};

private:
    static constexpr bool beside = gaps == GapKind::beside;

    template <bool by_row, bool by_column>
    INLINE static Column sum(const Column& row, const double* column) {
        if constexpr (!by_row) return read(column);
        if constexpr (!by_column) return row;
        return row + read(column);
    }
    INLINE void note(const Bits& bit) { record = record + record - (Words)bit; }
    INLINE void write() {
        const Words copy = record;
        std::memcpy(word, &copy, sizeof copy);
        word += strip;
        room = BestAlignment::cells;
    }

    std::int64_t n, last_row;
    Column insertion_first, insertion_next, deletion_first, deletion_next;
    double *any_row, *deleted_row;
    std::uint64_t* word;
    const double* match[strip];
    const double* by_column[4];
    std::int64_t room = BestAlignment::cells;
    Words record{};
    Column any = all(minus_infinity), diagonal = any, next_deletion = any, opening = any, inserted = any;
};

}  // namespace

GapKind BestAlignment::kind_of_gaps(const AlignmentScores& scores) {
    auto is_zero = [](double score) { return score == 0.0; };
    bool linear = scores.ends != Ends::semiglobal;
    for (const bool deletion : {true, false}) {
        const GapScores& gap = deletion ? scores.deletion : scores.insertion;
        const std::int64_t own = deletion ? scores.m : scores.n, other = deletion ? scores.n : scores.m;
        for (const double* each : {gap.first_beside, gap.next_beside})
            if (!std::all_of(each, each + other + 1, is_zero)) return GapKind::beside;
        linear &= std::equal(gap.first, gap.first + own, gap.next);
    }
    return linear ? GapKind::linear : GapKind::affine;
}

void BestAlignment::prepare(const AlignmentScores& scores) {
    m_ = scores.m, n_ = scores.n, ends_ = scores.ends;
    words_ = (n_ + strip) / cells + 1;
    choices_.resize(static_cast<std::size_t>((m_ + strip - 1) / strip * strip * words_));
    // Column j of a row is at strip − 1 + j: rows that are not there yet, or have gone too far, read and write beside it.
    const auto size = static_cast<std::size_t>(n_ + 2 * strip);
    any_.assign(size, minus_infinity);
    deleted_.assign(size, minus_infinity);
    const double* from[] = {scores.insertion.first - 1, scores.insertion.next - 1, scores.deletion.first_beside,
                            scores.deletion.next_beside};
    for (int k = 0; k < 4; ++k) {
        columns_[k].assign(size, 0.0);
        for (std::int64_t j = k < 2 ? 1 : 0; j <= n_; ++j) columns_[k][n_ + strip - 1 - j] = from[k][j];
    }
    gaps_ = kind_of_gaps(scores);
    score_ = ends_ == Ends::local ? 0.0 : minus_infinity;
    last_ = Step::start;
    // Row 0.
    double* any = &any_[strip - 1];
    if (ends_ != Ends::global) {
        std::fill_n(any, n_ + 1, 0.0);
    } else {
        any[0] = 0.0;
        for (std::int64_t j = 1; j <= n_; ++j)
            any[j] = j == 1 ? scores.insertion.first_beside[0] + scores.insertion.first[0]
                            : any[j - 1] + (scores.insertion.next_beside[0] + scores.insertion.next[j - 1]);
    }
    if (ends_ != Ends::local) deleted_[strip - 1] = scores.deletion.first[0] + scores.deletion.first_beside[0];
}

template <Ends ends, GapKind gaps>
INLINE void BestAlignment::run_strips(const AlignmentScores& scores) {
    auto strip_below = [&](std::int64_t above) __attribute__((always_inline)) {
        return Strip<ends, gaps>(scores, above, columns_, &any_[strip - 1], &deleted_[strip - 1],
                                 &choices_[static_cast<std::size_t>(above * words_)]);
    };
    auto finish = [&](auto& rows, std::int64_t above) __attribute__((always_inline)) {
        rows.finish(bits());
        for (std::int64_t r = 0; r < strip; ++r)
            if (rows.best[r] > score_)
                score_ = rows.best[r], last_ = Step::match, i_ = above + 1 + r, j_ = rows.best_column[r];
        if (ends == Ends::global && above + strip >= m_) score_ = rows.last_any;
        if (ends == Ends::semiglobal && rows.last_inserted > score_)
            score_ = rows.last_inserted, last_ = Step::insertion, i_ = m_, j_ = n_;
    };
    const std::int64_t end = n_ + strip;
    // The lower one of two strips goes along a few columns behind: while one waits for its last results, the other computes.
    std::int64_t above = 0;
    for (; above + strip < m_; above += 2 * strip) {
        auto upper = strip_below(above), lower = strip_below(above + strip);
        std::int64_t d = 0;
        for (; d < std::min(2 * behind, end + behind); ++d) {
            if (d < end) upper.template step<true>(d);
            if (d >= behind) lower.template step<true>(d - behind);
        }
        for (; d < n_; ++d) {
            upper.template step<false>(d);
            lower.template step<false>(d - behind);
        }
        for (; d < end + behind; ++d) {
            if (d < end) upper.template step<true>(d);
            lower.template step<true>(d - behind);
        }
        finish(upper, above);
        finish(lower, above + strip);
    }
    if (above < m_) {
        auto rows = strip_below(above);
        for (std::int64_t d = 0; d < end; ++d) rows.template step<true>(d);
        finish(rows, above);
    }
}

STRUCTLEARN_CLONES
void BestAlignment::run_global(const AlignmentScores& scores) {
    if (gaps_ == GapKind::linear) run_strips<Ends::global, GapKind::linear>(scores);
    if (gaps_ == GapKind::affine) run_strips<Ends::global, GapKind::affine>(scores);
    if (gaps_ == GapKind::beside) run_strips<Ends::global, GapKind::beside>(scores);
}
STRUCTLEARN_CLONES
void BestAlignment::run_semiglobal(const AlignmentScores& scores) {
    if (gaps_ == GapKind::affine) run_strips<Ends::semiglobal, GapKind::affine>(scores);
    if (gaps_ == GapKind::beside) run_strips<Ends::semiglobal, GapKind::beside>(scores);
}
STRUCTLEARN_CLONES
void BestAlignment::run_local(const AlignmentScores& scores) {
    if (gaps_ == GapKind::linear) run_strips<Ends::local, GapKind::linear>(scores);
    if (gaps_ == GapKind::affine) run_strips<Ends::local, GapKind::affine>(scores);
    if (gaps_ == GapKind::beside) run_strips<Ends::local, GapKind::beside>(scores);
}

void BestAlignment::run(const AlignmentScores& scores) {
    prepare(scores);
    if (ends_ == Ends::semiglobal) run_semiglobal(scores);
    if (ends_ == Ends::local) run_local(scores);
    if (ends_ == Ends::global) {
        run_global(scores);
        i_ = m_, j_ = n_, last_ = best_step(i_, j_);
    }
}

Step BestAlignment::best_step(std::int64_t i, std::int64_t j) const {
    const std::uint64_t here = choices(i, j);
    return here & after_insertion ? Step::insertion : here & after_deletion ? Step::deletion : Step::match;
}

std::uint64_t BestAlignment::choices(std::int64_t i, std::int64_t j) const {
    const std::int64_t row = (i - 1) % strip, d = j + row;
    const std::uint64_t word = choices_[static_cast<std::size_t>((i - 1 - row) * words_ + d / cells * strip + row)];
    return word >> (bits() * (cells - 1 - d % cells));
}

void BestAlignment::trace(std::int32_t* codes) const {
    std::fill_n(codes, m_, -1);
    const bool linear = gaps_ == GapKind::linear;
    Step step = last_;
    // In row and column 0 no match is left.
    for (std::int64_t i = i_, j = j_; step != Step::start && i > 0 && j > 0;) {
        if (step == Step::match) {
            codes[--i] = static_cast<std::int32_t>(--j);
            if (i == 0 || j == 0) return;
            step = ends_ == Ends::local && !(choices(i, j) & goes_on()) ? Step::start : best_step(i, j);
        } else if (step == Step::deletion) {
            if (--i == 0) return;
            step = choices(i, j) & (linear ? after_deletion : deletion_goes_on) ? Step::deletion : Step::match;
        } else if (linear) {
            if (--j == 0) return;
            step = best_step(i, j);
        } else if (choices(i, j--) & insertion_goes_on) {
            step = Step::insertion;
        } else {
            // In the last row of a semiglobal alignment insertions come after deletions only.
            const bool deletion = choices(i, j) & after_deletion || (ends_ == Ends::semiglobal && i == m_);
            step = deletion ? Step::deletion : Step::match;
        }
    }
}

}  // namespace structlearn
