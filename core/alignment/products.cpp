#include "alignment/products.hpp"

#include <cmath>
#include <unordered_map>

#include "linear/vector.hpp"

// Values wider than the registers of the baseline are handed from function to function, all of which are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace structlearn {

namespace {

using namespace blocks;

#define INLINE [[gnu::always_inline]] inline

// Factors by column: of deletions in it; of insertions that lead to it, of the last two together, of all from the first
// column of a group of four, and of all that lead from it to the next group.
enum Column { deletion_first, deletion_next, insertion_first, insertion_next, insertions_of_two, insertions_here, insertions_on };

using Masks = std::int64_t __attribute__((vector_size(sizeof(Lanes))));

INLINE Lanes read(const double* from) {
    Lanes out;
    load(from, out);
    return out;
}
INLINE Lanes all(double value) { return Lanes{value, value, value, value}; }
INLINE Lanes larger(const Lanes& a, const Lanes& b) { return a < b ? b : a; }
// No less than the least value, but for zeros; what is much larger stays as it is.
INLINE Lanes raised(const Lanes& a) { return a + (Lanes)((Masks)all(least_value) & (a != 0.0)); }
INLINE double largest(const Lanes& a) { return std::max(std::max(a[0], a[1]), std::max(a[2], a[3])); }
INLINE double sum(const Lanes& a) { return (a[0] + a[1]) + (a[2] + a[3]); }

// Four neighbours that begin one or two columns before `right`, or after `left`.
INLINE Lanes one_before(const Lanes& left, const Lanes& right) { return __builtin_shuffle(left, right, Masks{3, 4, 5, 6}); }
INLINE Lanes two_before(const Lanes& left, const Lanes& right) { return __builtin_shuffle(left, right, Masks{2, 3, 4, 5}); }
INLINE Lanes one_after(const Lanes& left, const Lanes& right) { return __builtin_shuffle(left, right, Masks{1, 2, 3, 4}); }
INLINE Lanes two_after(const Lanes& left, const Lanes& right) { return __builtin_shuffle(left, right, Masks{2, 3, 4, 5}); }

// Whether all scores of matches are −∞ or within the bounds.
STRUCTLEARN_CLONES
bool are_moderate(std::int64_t n, const double* scores) {
    std::int64_t outside = 0;
    for (std::int64_t j = 0; j < n; ++j)
        outside += (scores[j] <= largest_match ? 0 : 1) + ((scores[j] < least_match) & (scores[j] != minus_infinity));
    return outside == 0;
}

// Whether the sums of an entry of each are above the bound and not too large.
bool are_moderate(std::int64_t n, const double* own, std::int64_t m, const double* beside, double least) {
    const auto [low, high] = std::minmax_element(own, own + n);
    const auto [low_beside, high_beside] = std::minmax_element(beside, beside + m);
    return *low + *low_beside >= least && *high + *high_beside <= largest_gap;
}

}  // namespace

std::optional<double> AlignmentProducts::run(const AlignmentScores& scores, const AlignmentCounts& counts) {
    if (scores.m == 0 || scores.n == 0 || !prepare(scores) || !find_sum(scores) || !find_marginals(scores, counts)) return {};
    return std::log(z_.value) + static_cast<double>(z_.exponent) * 0x1.62e42fefa39efp-1;
}

bool AlignmentProducts::prepare(const AlignmentScores& scores) {
    m_ = scores.m, n_ = scores.n;
    n_blocks_ = n_ / block + 1, width_ = n_blocks_ * block;
    for (const bool deletion : {true, false}) {
        const GapScores& gap = deletion ? scores.deletion : scores.insertion;
        const std::int64_t own = deletion ? m_ : n_, other = (deletion ? n_ : m_) + 1;
        if (!are_moderate(own, gap.first, other, gap.first_beside, least_first)) return false;
        if (!are_moderate(own, gap.next, other, gap.next_beside, least_next)) return false;
    }
    auto is_zero = [](double score) { return score == 0.0; };
    beside_ = false;
    for (const double* each : {scores.deletion.first_beside, scores.deletion.next_beside})
        beside_ |= !std::all_of(each, each + n_ + 1, is_zero);
    for (const double* each : {scores.insertion.first_beside, scores.insertion.next_beside})
        beside_ |= !std::all_of(each, each + m_ + 1, is_zero);
    if (!read_matches(scores)) return false;
    read_columns(scores);
    const auto padded = static_cast<std::size_t>(width_ + block);
    for (auto* row : {&zeros_, &ones_, &first_, &last_}) row->assign(padded, 0.0);
    std::fill_n(ones_.begin(), n_ + 1, 1.0);
    first_[0] = last_[static_cast<std::size_t>(n_)] = 1.0;
    return true;
}

bool AlignmentProducts::read_matches(const AlignmentScores& scores) {
    match_rows_.resize(static_cast<std::size_t>(m_));
    matches_.resize(static_cast<std::size_t>((m_ + 1) * width_ + block));
    // Letters with the same scores may share a row of them.
    std::unordered_map<const double*, const double*> known;
    double* next = matches_.data();
    for (std::int64_t i = 0; i < m_; ++i) {
        const auto [place, is_new] = known.try_emplace(scores.match[i], next);
        match_rows_[static_cast<std::size_t>(i)] = place->second;
        if (!is_new) continue;
        if (!are_moderate(n_, scores.match[i])) return false;
        next[0] = 0.0;
        exponentials(n_, scores.match[i], 0.0, next + 1);
        std::fill(next + n_ + 1, next + width_, 0.0);
        next += width_;
    }
    std::fill_n(next, block, 0.0);
    return true;
}

void AlignmentProducts::read_columns(const AlignmentScores& scores) {
    for (auto& column : by_column_) column.assign(static_cast<std::size_t>(width_ + block), 0.0);
    exponentials(n_ + 1, scores.deletion.first_beside, 0.0, by_column_[deletion_first].data());
    exponentials(n_ + 1, scores.deletion.next_beside, 0.0, by_column_[deletion_next].data());
    exponentials(n_, scores.insertion.first, 0.0, by_column_[insertion_first].data() + 1);
    double* next = by_column_[insertion_next].data();
    exponentials(n_, scores.insertion.next, 0.0, next + 1);
    // No letter is inserted that has a known partner.
    for (std::int64_t k = scores.first_known; k <= scores.last_known; ++k)
        if (scores.is_known(k)) by_column_[insertion_first][scores.known[k] + 1] = next[scores.known[k] + 1] = 0.0;
    for (std::int64_t j = 0; j < width_; j += lanes) {
        double* here = &by_column_[insertions_here][j];
        double* on = &by_column_[insertions_on][j];
        double product = 1.0;
        for (int lane = 0; lane < lanes; ++lane) here[lane] = product *= next[j + lane];
        product = 1.0;
        for (int lane = lanes - 1; lane >= 0; --lane) on[lane] = product *= next[j + lane + 1];
    }
    for (std::int64_t j = 1; j <= width_; ++j) by_column_[insertions_of_two][j] = next[j] * next[j - 1];
}

AlignmentProducts::RowFactors AlignmentProducts::factors(const AlignmentScores& scores, std::int64_t i,
                                                         std::int64_t letter) const {
    const bool semiglobal = scores.ends == Ends::semiglobal, inside = letter >= 0 && letter < m_;
    RowFactors row{zeros_.data(), 0.0, 0.0, 0.0, 0.0, !(semiglobal && i == m_), beside_ || (semiglobal && i == 0)};
    if (inside) row.match = match_rows_[static_cast<std::size_t>(letter)];
    if (inside && !scores.is_known(letter)) {
        row.deletion_first = std::exp(scores.deletion.first[letter]);
        row.deletion_next = std::exp(scores.deletion.next[letter]);
    }
    if (!(semiglobal && i == 0)) {
        row.insertion_first = std::exp(scores.insertion.first_beside[i]);
        row.insertion_next = std::exp(scores.insertion.next_beside[i]);
    }
    return row;
}

AlignmentProducts::RowEnds AlignmentProducts::ends(const AlignmentScores& scores, std::int64_t i) const {
    const double *none = zeros_.data(), *last = last_.data(), *everywhere = ones_.data();
    const bool last_row = i == m_;
    if (scores.ends == Ends::global) return last_row ? RowEnds{last, last, last} : RowEnds{none, none, none};
    if (scores.ends == Ends::semiglobal)
        return last_row ? RowEnds{everywhere, last, none} : RowEnds{i > 0 ? last : none, none, none};
    return {i > std::max<std::int64_t>(scores.last_known, 0) ? everywhere : none, none, none};
}

// Where matches may be the first ones that come after cells of a row, (width,), or null.
const double* AlignmentProducts::starts(const AlignmentScores& scores, std::int64_t i) const {
    if (scores.ends == Ends::semiglobal) return i == 0 ? ones_.data() : first_.data();
    return scores.ends == Ends::local && i <= scores.first_known ? ones_.data() : nullptr;
}

void AlignmentProducts::add_ends(std::int64_t i, const RowEnds& ends) {
    for (std::int64_t b = 0; b < n_blocks_; ++b) {
        double sum = 0.0;
        for (std::int64_t j = b * block; j < (b + 1) * block; ++j) {
            const auto cell = static_cast<std::size_t>(i * width_ + j);
            sum += ends.match[j] * matched_[cell] + ends.insertion[j] * inserted_[cell] + ends.deletion[j] * deleted_[cell];
        }
        z_.add(sum, exponents_[static_cast<std::size_t>(i * n_blocks_ + b)]);
    }
}

bool AlignmentProducts::find_sum(const AlignmentScores& scores) {
    const auto cells = static_cast<std::size_t>((m_ + 1) * width_);
    for (auto* table : {&matched_, &deleted_, &inserted_}) table->resize(cells);
    for (auto* each : {&exponents_, &raised_at_}) each->resize(static_cast<std::size_t>((m_ + 1) * n_blocks_));
    any_.assign(static_cast<std::size_t>(width_), 0.0);
    z_ = {};
    const bool local = scores.ends == Ends::local;
    if (local && scores.last_known < 0) z_.add(1.0, 0);
    for (std::int64_t i = 0; i <= m_; ++i) {
        RowFactors row = factors(scores, i, i - 1);
        // The start counts as a match that leads to cell (0, 0).
        if (i == 0 && !local) row.match = first_.data();
        if (!forward(i, row, starts(scores, i), scores.ends == Ends::semiglobal)) return false;
        const RowEnds ends = this->ends(scores, i);
        if (ends.match != zeros_.data()) add_ends(i, ends);
    }
    return z_.value > 0.0;
}

template <bool beside>
INLINE bool AlignmentProducts::go_forward(std::int64_t i, const RowFactors& row, const double* starts, bool column_0_starts) {
    // Of the column before: any of the row above, what insertions come after, insertions.
    Handed diagonal{i == 0 ? 1.0 : 0.0, 0}, opening, inserted;
    const double in = row.insertion_next;
    const Lanes powers{in, in * in, in * in * in, in * in * in * in};
    double brought[2][block];
    for (std::int64_t b = 0; b < n_blocks_; ++b) {
        const std::int64_t at = b * block, here = i * width_ + at;
        const double* matched_above = i > 0 ? &matched_[here - width_] : zeros_.data();
        const double* deleted_above = i > 0 ? &deleted_[here - width_] : zeros_.data();
        std::int64_t exponent = i > 0 ? exponents_[(i - 1) * n_blocks_ + b] : nowhere;
        const bool may_start = starts && (starts == ones_.data() || b == 0);
        const std::int64_t needed = std::max({diagonal.size(), opening.size(), inserted.size(), may_start ? 0 : nowhere});
        if (needed > exponent + slack) {
            scale_block(matched_above, exponent - needed, brought[0]);
            scale_block(deleted_above, exponent - needed, brought[1]);
            scale_block(&any_[at], exponent - needed, &any_[at]);
            matched_above = brought[0], deleted_above = brought[1];
            exponent = needed;
        }
        const double start = may_start ? one_at(exponent) : 0.0;
        Lanes before = all(diagonal.in(exponent)), opening_before = all(opening.in(exponent)),
              inserted_before = all(inserted.in(exponent)), top{};
        auto by_row = [&](double factor, Column which, std::int64_t k) __attribute__((always_inline)) {
            return beside ? factor * read(&by_column_[which][at + k]) : all(factor);
        };
        auto by_column = [&](const auto& factor, Column which, std::int64_t k) __attribute__((always_inline)) {
            const Lanes column = read(&by_column_[which][at + k]);
            return beside ? factor * column : column;
        };
        for (std::int64_t k = 0; k < block; k += lanes) {
            const Lanes any_above = read(&any_[at + k]), match = read(row.match + at + k);
            const Lanes matched = raised(one_before(before, any_above) * match);
            before = any_above;
            const Lanes deleted = raised(read(matched_above + k) * by_row(row.deletion_first, deletion_first, k) +
                                         read(deleted_above + k) * by_row(row.deletion_next, deletion_next, k));
            const Lanes opens = row.after_match ? matched + deleted : deleted;
            // Sums along the row: of two neighbours, of four, and of all before them.
            Lanes inserting = one_before(opening_before, opens) * by_column(row.insertion_first, insertion_first, k);
            opening_before = opens;
            inserting += one_before(Lanes{}, inserting) * by_column(in, insertion_next, k);
            inserting += two_before(Lanes{}, inserting) * by_column(in * in, insertions_of_two, k);
            const Lanes here_on = by_column(powers, insertions_here, k);
            const Lanes all_inserted = raised(inserting + inserted_before * here_on);
            // Not from all_inserted, for which the next four would have to wait.
            inserted_before = all(inserting[lanes - 1]) + inserted_before * all(here_on[lanes - 1]);
            Lanes any = matched + deleted + all_inserted;
            if (column_0_starts && at + k == 0) any[0] = 0.0;
            if (may_start) any += start * read(starts + at + k);
            store(matched, &matched_[here + k]);
            store(deleted, &deleted_[here + k]);
            store(all_inserted, &inserted_[here + k]);
            store(any, &any_[at + k]);
            top = larger(top, any);
        }
        diagonal = {before[lanes - 1], exponent};
        opening = {opening_before[lanes - 1], exponent};
        inserted = {inserted_before[0], exponent};
        const double height = largest(top);
        if (!(height <= largest_value)) return false;
        const std::int64_t by = exponent_of(height, 0);
        if (height > 0.0 && (by > slack || by < -slack)) {
            for (double* row : {&matched_[here], &deleted_[here], &inserted_[here], &any_[at]})
                scale_block(row, -by, row);
            exponent += by;
        }
        exponents_[i * n_blocks_ + b] = height > 0.0 ? exponent : nowhere;
        raised_at_[i * n_blocks_ + b] = std::max(exponent, diagonal.exponent);
    }
    return true;
}

bool AlignmentProducts::find_marginals(const AlignmentScores& scores, const AlignmentCounts& counts) {
    for (auto* row : {&after_match_, &after_deletion_, &match_counts_, &pair_counts_})
        row->assign(static_cast<std::size_t>(width_), 0.0);
    for (auto& row : sums_) row.assign(static_cast<std::size_t>(width_), 0.0);
    after_exponents_.assign(static_cast<std::size_t>(n_blocks_), nowhere);
    heaviest_ = 2 * nowhere;
    for (std::int64_t i = m_; i >= 0; --i) {
        RowFactors row = factors(scores, i, i);
        const bool semiglobal = scores.ends == Ends::semiglobal;
        if (semiglobal && i == 0) row.match = zeros_.data();
        if (!backward(i, row, ends(scores, i), semiglobal, counts)) return false;
        if (i > 0) std::copy_n(match_counts_.begin() + 1, n_, counts.match + (i - 1) * n_);
        if (counts.pairs && i > 0 && i < m_) std::copy_n(pair_counts_.begin() + 1, n_ - 1, counts.pairs + (i - 1) * (n_ - 1));
    }
    // What was made larger in a cell, in units of its block, is followed by at most 2^slack in units of what follows there,
    // and the other way round; in all of up to 2^40 values that is less than 2^−60 of Z.
    if (heaviest_ + most_added + slack + 40 - exponent_of(z_.value, z_.exponent) > -60) return false;
    std::copy_n(sums_[0].begin(), n_ + 1, counts.deletion.all_beside);
    std::copy_n(sums_[1].begin(), n_ + 1, counts.deletion.firsts_beside);
    std::copy_n(sums_[2].begin() + 1, n_, counts.insertion.all);
    std::copy_n(sums_[3].begin(), n_, counts.insertion.firsts);
    return true;
}

template <bool beside>
INLINE bool AlignmentProducts::go_back(std::int64_t i, const RowFactors& row, const RowEnds& ends, bool column_0_starts,
                                       const AlignmentCounts& counts) {
    Lanes deletions{}, first_deletions{}, insertions{}, first_insertions{};
    // Of the column after: what follows on a match that leads to the row below, and on an insertion.
    Handed diagonal, inserted;
    const double in = row.insertion_next;
    const Lanes powers{in * in * in * in, in * in * in, in * in, in};
    for (std::int64_t b = n_blocks_ - 1; b >= 0; --b) {
        const std::int64_t at = b * block, here = i * width_ + at;
        const bool may_end = ends.match == ones_.data() || (ends.match == last_.data() && b == n_blocks_ - 1);
        const std::int64_t needed = std::max({diagonal.size(), inserted.size(), may_end ? 0 : nowhere});
        std::int64_t exponent = after_exponents_[b];
        if (needed > exponent + slack) {
            for (double* row : {&after_match_[at], &after_deletion_[at]})
                scale_block(row, exponent - needed, row);
            exponent = needed;
        }
        const double end = may_end ? one_at(exponent) : 0.0;
        const std::int64_t before = exponents_[i * n_blocks_ + b];
        const double scale = power_of_two(before + exponent - z_.exponent) / z_.value;
        Lanes below = all(diagonal.in(exponent)), inserted_after = all(inserted.in(exponent)), top{};
        auto by_row = [&](double factor, Column which, std::int64_t k) __attribute__((always_inline)) {
            return beside ? factor * read(&by_column_[which][at + k]) : all(factor);
        };
        auto by_column = [&](const auto& factor, Column which, std::int64_t k) __attribute__((always_inline)) {
            const Lanes column = read(&by_column_[which][at + k]);
            return beside ? factor * column : column;
        };
        for (std::int64_t k = block - lanes; k >= 0; k -= lanes) {
            const Lanes match_below = read(&after_match_[at + k]), factor = read(row.match + at + k + 1);
            const Lanes after = one_after(match_below, below);
            Lanes match = raised(after * factor);
            below = match_below;
            if (column_0_starts && at + k == 0) match[0] = 0.0;
            const Lanes deletion_below = read(&after_deletion_[at + k]);
            const Lanes first_deletion = deletion_below * by_row(row.deletion_first, deletion_first, k);
            const Lanes next_deletion = deletion_below * by_row(row.deletion_next, deletion_next, k);
            Lanes inserting = match;
            if (may_end) inserting += end * read(ends.insertion + at + k);
            inserting += one_after(inserting, Lanes{}) * by_column(in, insertion_next, k + 1);
            inserting += two_after(inserting, Lanes{}) * by_column(in * in, insertions_of_two, k + 2);
            const Lanes on = by_column(powers, insertions_on, k);
            const Lanes after_insertion = raised(inserting + inserted_after * on);
            const Lanes first_insertion =
                one_after(after_insertion, inserted_after) * by_column(row.insertion_first, insertion_first, k + 1);
            inserted_after = all(inserting[0]) + inserted_after * all(on[0]);
            Lanes after_match = row.after_match ? match + first_insertion + first_deletion : match + first_deletion;
            Lanes after_deletion = match + first_insertion + next_deletion;
            if (may_end) {
                after_match += end * read(ends.match + at + k);
                after_deletion += end * read(ends.deletion + at + k);
            }
            after_match = raised(after_match), after_deletion = raised(after_deletion);
            store(after_match, &after_match_[at + k]);
            store(after_deletion, &after_deletion_[at + k]);
            top = larger(top, larger(after_match, larger(after_deletion, after_insertion)));

            const Lanes before_match = scale * read(&matched_[here + k]), before_deletion = scale * read(&deleted_[here + k]),
                        before_insertion = scale * read(&inserted_[here + k]);
            auto count = [&](Lanes& in_row, std::vector<double>& in_columns, const Lanes& more)
                __attribute__((always_inline)) {
                in_row += more;
                store(read(&in_columns[at + k]) + more, &in_columns[at + k]);
            };
            store(before_match * after_match, &match_counts_[at + k]);
            if (counts.pairs) store(before_match * match, &pair_counts_[at + k]);
            count(deletions, sums_[0], before_deletion * after_deletion);
            count(first_deletions, sums_[1], before_match * first_deletion);
            count(insertions, sums_[2], before_insertion * after_insertion);
            count(first_insertions, sums_[3], (row.after_match ? before_match + before_deletion : before_deletion) * first_insertion);
        }
        diagonal = {below[0], exponent};
        inserted = {inserted_after[0], exponent};
        const double height = largest(top);
        if (!(height <= largest_value)) return false;
        const std::int64_t by = exponent_of(height, 0);
        if (height > 0.0 && (by > slack || by < -slack)) {
            for (double* row : {&after_match_[at], &after_deletion_[at]}) scale_block(row, -by, row);
            exponent += by;
        }
        after_exponents_[b] = height > 0.0 ? exponent : nowhere;
        heaviest_ = std::max({heaviest_, raised_at_[i * n_blocks_ + b] + after_exponents_[b],
                              before + std::max(exponent, diagonal.exponent)});
    }
    if (i > 0) counts.deletion.all[i - 1] = sum(deletions);
    if (i < m_) counts.deletion.firsts[i] = sum(first_deletions);
    counts.insertion.all_beside[i] = sum(insertions);
    counts.insertion.firsts_beside[i] = sum(first_insertions);
    return true;
}

STRUCTLEARN_CLONES
bool AlignmentProducts::forward(std::int64_t i, const RowFactors& row, const double* starts, bool column_0_starts) {
    return row.beside ? go_forward<true>(i, row, starts, column_0_starts) : go_forward<false>(i, row, starts, column_0_starts);
}

STRUCTLEARN_CLONES
bool AlignmentProducts::backward(std::int64_t i, const RowFactors& row, const RowEnds& ends, bool column_0_starts,
                                 const AlignmentCounts& counts) {
    return row.beside ? go_back<true>(i, row, ends, column_0_starts, counts)
                      : go_back<false>(i, row, ends, column_0_starts, counts);
}

}  // namespace structlearn
