#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linear/semirings.hpp"

namespace structlearn {

// The scores of the arcs of one sentence, (n + 1, n + 1) by head and modifier, and of siblings, by head, sibling and modifier,
// or null.
struct EisnerScores {
    std::int64_t n;
    bool single_root;
    const double* arcs;
    const double* siblings = nullptr;

    // The least place that spans begin with: the root stands apart if it has one modifier only.
    std::int64_t first() const { return single_root ? 1 : 0; }
    double arc(std::int64_t head, std::int64_t modifier) const { return arcs[head * (n + 1) + modifier]; }
    double sibling(std::int64_t head, std::int64_t sibling, std::int64_t modifier) const {
        return siblings ? siblings[(head * (n + 1) + sibling) * (n + 1) + modifier] : 0.0;
    }
    // Of the root's modifier, where it has one only.
    double root(std::int64_t modifier) const { return arc(0, modifier) + sibling(0, 0, modifier); }
};

// Spans of tokens s, …, t. Complete ones hold all that the token at one end is above, on that side; incomplete ones have an arc
// from end to end, to which modifiers of the other end are still to come; joined ones are two complete ones that meet.
enum SpanKind {
    complete_right,    // s above all
    complete_left,     // t above all
    incomplete_right,  // the arc s → t
    incomplete_left,   // the arc t → s
    joined,            // s above the left piece, t above the right one
    opened_right,      // incomplete but for the score of the arc; only with siblings, else it is what is joined
    opened_left,
    n_span_kinds
};

// Sums over all projective trees (Eisner 1996; McDonald and Pereira 2006 with siblings), in O(n³). Spans of one width lie side
// by side, so that all recursions are sums of products of rows.
template <Semiring S>
class EisnerChart {
public:
    double run(const EisnerScores& scores) {
        n_ = scores.n, size_ = n_ + 1;
        values_.resize(static_cast<std::size_t>(n_span_kinds * size_ * size_));
        for (const SpanKind kind : {complete_right, complete_left, incomplete_right, incomplete_left})
            std::fill_n(row(kind, 0), size_, 0.0);
        const std::int64_t first = scores.first();
        for (std::int64_t width = 1; width <= n_ - first; ++width) fill(scores, width, first, n_ - width - first + 1);
        return root_ = n_ == 0 ? 0.0 : scores.single_root ? single_root(scores) : value(complete_right, n_, 0);
    }

    std::int64_t n() const { return n_; }
    double root() const { return root_; }
    std::int64_t item(SpanKind kind, std::int64_t width, std::int64_t begin) const {
        return (kind * size_ + width) * size_ + begin;
    }
    double value(std::int64_t item) const { return values_[static_cast<std::size_t>(item)]; }
    double value(SpanKind kind, std::int64_t width, std::int64_t begin) const { return value(item(kind, width, begin)); }
    const double* row(SpanKind kind, std::int64_t width) const { return values_.data() + item(kind, width, 0); }

private:
    double* row(SpanKind kind, std::int64_t width) { return values_.data() + item(kind, width, 0); }

    // All spans of a width; `count` of them, the first of which begins with `first`.
    void fill(const EisnerScores& scores, std::int64_t width, std::int64_t first, std::int64_t count) {
        const std::int64_t shorter = 1 - size_;  // from the right piece of one split to that of the next
        semiring_.sum_of_products(width, count, row(complete_right, 0) + first, size_, row(complete_left, width - 1) + first + 1,
                                  shorter, row(joined, width) + first);
        if (scores.siblings) open(scores, width, first, count);
        const double* before_right = row(scores.siblings ? opened_right : joined, width);
        const double* before_left = row(scores.siblings ? opened_left : joined, width);
        for (std::int64_t s = first; s < first + count; ++s) {
            row(incomplete_right, width)[s] = before_right[s] + scores.arc(s, s + width);
            row(incomplete_left, width)[s] = before_left[s] + scores.arc(s + width, s);
        }
        semiring_.sum_of_products(width, count, row(incomplete_right, 1) + first, size_,
                                  row(complete_right, width - 1) + first + 1, shorter, row(complete_right, width) + first);
        semiring_.sum_of_products(width, count, row(complete_left, 0) + first, size_, row(incomplete_left, width) + first,
                                  shorter, row(complete_left, width) + first);
    }

    // With k = 0 the modifier is the first on its side, and what lies between belongs to it; otherwise the sibling is k places
    // from the head.
    void open(const EisnerScores& scores, std::int64_t width, std::int64_t first, std::int64_t count) {
        beside_.resize(static_cast<std::size_t>(width * count));
        // Span by span: scores of siblings lie far apart for different heads.
        for (std::int64_t s = first; s < first + count; ++s)
            for (std::int64_t k = 0; k < width; ++k) {
                const double between = k == 0 ? value(complete_left, width - 1, s + 1) : value(joined, width - k, s + k);
                beside_[k * count + s - first] = between + scores.sibling(s, s + k, s + width);
            }
        semiring_.sum_of_products(width, count, row(incomplete_right, 0) + first, size_, beside_.data(), count,
                                  row(opened_right, width) + first);
        for (std::int64_t s = first; s < first + count; ++s)
            for (std::int64_t k = 0; k < width; ++k) {
                const double between = k == 0 ? value(complete_right, width - 1, s) : value(joined, width - k, s);
                beside_[k * count + s - first] = between + scores.sibling(s + width, s + width - k, s);
            }
        semiring_.sum_of_products(width, count, row(incomplete_left, 0) + first + width, size_ - 1, beside_.data(), count,
                                  row(opened_left, width) + first);
    }

    double single_root(const EisnerScores& scores) {
        beside_.resize(static_cast<std::size_t>(n_));
        for (std::int64_t m = 1; m <= n_; ++m)
            beside_[m - 1] = value(complete_left, m - 1, 1) + value(complete_right, n_ - m, m) + scores.root(m);
        return semiring_.total(n_, beside_.data());
    }

    S semiring_;
    std::int64_t n_ = 0, size_ = 1;
    double root_ = 0.0;
    std::vector<double> values_, beside_;  // values by kind, width and begin
};

}  // namespace structlearn
