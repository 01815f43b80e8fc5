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
    // Adds to `arcs`, (n + 1, n + 1), and unless it is null to `siblings`, (n + 1, n + 1, n + 1), of a chart whose sum is finite.
    void run(const EisnerChart<LogSum>& chart, const EisnerScores& scores, double* arcs, double* siblings) {
        n_ = chart.n(), size_ = n_ + 1;
        expected_.assign(static_cast<std::size_t>(n_span_kinds * size_ * size_), 0.0);
        share_.resize(static_cast<std::size_t>(size_));
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
    // Shares of the spans `of` in those of one split; the scores of the split, if there are any, are more(s).
    template <class More>
    void split(const EisnerChart<LogSum>& chart, SpanKind of, std::int64_t width, std::int64_t first, std::int64_t count,
               Piece left, Piece right, More&& more) {
        const double *whole = chart.row(of, width), *a = chart.row(left.kind, left.width) + left.shift,
                     *b = chart.row(right.kind, right.width) + right.shift;
        const double* expected = row(chart, of, width);
        // −∞ less −∞ would be no number.
        for (std::int64_t s = first; s < first + count; ++s)
            share_[s] = expected[s] > 0.0 ? a[s] + b[s] + more(s) - whole[s] : minus_infinity;
        exponentials(count, share_.data() + first, 0.0, share_.data() + first);
        for (std::int64_t s = first; s < first + count; ++s) share_[s] *= expected[s];
        add_scaled(count, 1.0, share_.data() + first, row(chart, left.kind, left.width) + left.shift + first);
        add_scaled(count, 1.0, share_.data() + first, row(chart, right.kind, right.width) + right.shift + first);
    }

    void hand_down(const EisnerChart<LogSum>& chart, const EisnerScores& scores, std::int64_t width, std::int64_t first,
                   std::int64_t count, double* arcs, double* siblings) {
        auto nothing = [](std::int64_t) { return 0.0; };
        for (std::int64_t k = 1; k <= width; ++k)
            split(chart, complete_right, width, first, count, {incomplete_right, k, 0}, {complete_right, width - k, k}, nothing);
        for (std::int64_t k = 0; k < width; ++k)
            split(chart, complete_left, width, first, count, {complete_left, k, 0}, {incomplete_left, width - k, k}, nothing);
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
            split(chart, joined, width, first, count, {complete_right, k, 0}, {complete_left, width - 1 - k, k + 1}, nothing);
    }
    void hand_down_siblings(const EisnerChart<LogSum>& chart, const EisnerScores& scores, std::int64_t width,
                            std::int64_t first, std::int64_t count, double* siblings) {
        auto take = [&](SpanKind kind, Piece left, Piece right, auto&& head, auto&& sibling, auto&& modifier) {
            split(chart, kind, width, first, count, left, right,
                  [&](std::int64_t s) { return scores.sibling(head(s), sibling(s), modifier(s)); });
            for (std::int64_t s = first; siblings && s < first + count; ++s)
                siblings[(head(s) * size_ + sibling(s)) * size_ + modifier(s)] += share_[s];
        };
        auto begin = [](std::int64_t s) { return s; };
        auto end = [&](std::int64_t s) { return s + width; };
        for (std::int64_t k = 0; k < width; ++k) {
            const Piece to_right = k == 0 ? Piece{complete_left, width - 1, 1} : Piece{joined, width - k, k};
            take(opened_right, {incomplete_right, k, 0}, to_right, begin, [&](std::int64_t s) { return s + k; }, end);
            const Piece to_left = k == 0 ? Piece{complete_right, width - 1, 0} : Piece{joined, width - k, 0};
            take(opened_left, {incomplete_left, k, width - k}, to_left, end, [&](std::int64_t s) { return s + width - k; }, begin);
        }
    }

    std::int64_t n_ = 0, size_ = 1;
    std::vector<double> expected_, share_;
};

}  // namespace structlearn
