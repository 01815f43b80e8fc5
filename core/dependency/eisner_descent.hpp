#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dependency/eisner.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// How often arcs and siblings are expected in a tree drawn with probability exp F(y) / Z: the whole hands 1 to the spans that it
// is made of, in the shares they have in its sum, and so on down, all spans of a width at once.
class EisnerDescent {
public:
    // Adds to `arcs`, (n + 1, n + 1), and, if they have scores, to `siblings`, (n + 1, n + 1, n + 1), of a chart whose sum is
    // finite.
    void run(const EisnerChart<LogSum>& chart, const EisnerScores& scores, double* arcs, double* siblings) {
        n_ = chart.n(), size_ = n_ + 1;
        expected_.assign(static_cast<std::size_t>(n_span_kinds * size_ * size_), 0.0);
        shares_.resize(static_cast<std::size_t>(size_));
        if (n_ == 0) return;
        if (scores.single_root)
            hand_down_root(chart, scores, arcs, siblings);
        else
            *row(chart, complete_right, n_) = 1.0;
        const std::int64_t first = scores.first();
        for (std::int64_t width = n_ - first; width > 0; --width)
            hand_down(chart, scores, width, first, n_ - width - first + 1, arcs, siblings);
    }

private:
    double* row(const EisnerChart<LogSum>& chart, SpanKind kind, std::int64_t width) {
        return expected_.data() + chart.item(kind, width, 0);
    }

    void hand_down_root(const EisnerChart<LogSum>& chart, const EisnerScores& scores, double* arcs, double* siblings) {
        for (std::int64_t m = 1; m <= n_; ++m) {
            const double p = std::exp(chart.value(complete_left, m - 1, 1) + chart.value(complete_right, n_ - m, m) +
                                      scores.root(m) - chart.root());
            arcs[m] += p;
            if (siblings) siblings[m] += p;
            row(chart, complete_left, m - 1)[1] += p;
            row(chart, complete_right, n_ - m)[m] += p;
        }
    }

    // One of the spans that others of a width are made of: where those that belong to s = 0 begin.
    struct Piece {
        SpanKind kind;
        std::int64_t width, shift;
    };
    // Shares of the spans `of` that those of one split have in them; `scores` of the split, from the first on, may be null.
    void split(const EisnerChart<LogSum>& chart, SpanKind of, std::int64_t width, std::int64_t first, std::int64_t count,
               Piece left, Piece right, const double* scores, double* shares) {
        const double *whole = chart.row(of, width) + first, *expected = row(chart, of, width) + first,
                     *a = chart.row(left.kind, left.width) + left.shift + first,
                     *b = chart.row(right.kind, right.width) + right.shift + first;
        // −∞ less −∞ would be no number.
        for (std::int64_t k = 0; k < count; ++k)
            shares[k] = expected[k] > 0.0 ? a[k] + b[k] + (scores ? scores[k] : 0.0) - whole[k] : minus_infinity;
        exponentials(count, shares, 0.0, shares);
        for (std::int64_t k = 0; k < count; ++k) shares[k] *= expected[k];
        add_scaled(count, 1.0, shares, row(chart, left.kind, left.width) + left.shift + first);
        add_scaled(count, 1.0, shares, row(chart, right.kind, right.width) + right.shift + first);
    }

    void hand_down(const EisnerChart<LogSum>& chart, const EisnerScores& scores, std::int64_t width, std::int64_t first,
                   std::int64_t count, double* arcs, double* siblings) {
        auto pieces = [&](SpanKind of, Piece left, Piece right) {
            split(chart, of, width, first, count, left, right, nullptr, shares_.data());
        };
        for (std::int64_t k = 1; k <= width; ++k)
            pieces(complete_right, {incomplete_right, k, 0}, {complete_right, width - k, k});
        for (std::int64_t k = 0; k < width; ++k)
            pieces(complete_left, {complete_left, k, 0}, {incomplete_left, width - k, k});
        for (std::int64_t s = first; s < first + count; ++s) {
            arcs[s * size_ + s + width] += row(chart, incomplete_right, width)[s];
            arcs[(s + width) * size_ + s] += row(chart, incomplete_left, width)[s];
        }
        add_scaled(count, 1.0, row(chart, incomplete_right, width) + first,
                   row(chart, scores.siblings ? opened_right : joined, width) + first);
        add_scaled(count, 1.0, row(chart, incomplete_left, width) + first,
                   row(chart, scores.siblings ? opened_left : joined, width) + first);
        if (scores.siblings) hand_down_siblings(chart, scores, width, first, count, siblings);
        for (std::int64_t k = 0; k < width; ++k)
            pieces(joined, {complete_right, k, 0}, {complete_left, width - 1 - k, k + 1});
    }

    void hand_down_siblings(const EisnerChart<LogSum>& chart, const EisnerScores& scores, std::int64_t width,
                            std::int64_t first, std::int64_t count, double* siblings) {
        beside_.resize(static_cast<std::size_t>(width * count));
        // Scores of siblings lie far apart for different heads: they are gathered, and what is expected is handed back, span by
        // span.
        auto each = [&](auto&& at, auto&& visit) {
            for (std::int64_t s = first; s < first + count; ++s)
                for (std::int64_t k = 0; k < width; ++k) visit(at(s, k), beside_[k * count + s - first]);
        };
        auto take = [&](SpanKind kind, auto&& at, auto&& left, auto&& right) {
            each(at, [&](std::int64_t part, double& score) { score = scores.siblings[part]; });
            for (std::int64_t k = 0; k < width; ++k) {
                double* row = beside_.data() + k * count;
                split(chart, kind, width, first, count, left(k), right(k), row, row);
            }
            each(at, [&](std::int64_t part, double& share) { siblings[part] += share; });
        };
        take(
            opened_right, [&](std::int64_t s, std::int64_t k) { return (s * size_ + s + k) * size_ + s + width; },
            [&](std::int64_t k) { return Piece{incomplete_right, k, 0}; },
            [&](std::int64_t k) { return k == 0 ? Piece{complete_left, width - 1, 1} : Piece{joined, width - k, k}; });
        take(
            opened_left,
            [&](std::int64_t s, std::int64_t k) { return ((s + width) * size_ + s + width - k) * size_ + s; },
            [&](std::int64_t k) { return Piece{incomplete_left, k, width - k}; },
            [&](std::int64_t k) { return k == 0 ? Piece{complete_right, width - 1, 0} : Piece{joined, width - k, 0}; });
    }

    std::int64_t n_ = 0, size_ = 1;
    std::vector<double> expected_, shares_, beside_;
};

}  // namespace structlearn
