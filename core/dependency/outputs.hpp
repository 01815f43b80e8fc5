#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "batch/ragged.hpp"
#include "dependency/shape.hpp"

namespace structlearn {

// What dependency trees are as a structure, however they are found.
class DependencyOutputs {
public:
    explicit DependencyOutputs(const DependencyShape& shape) : shape_(shape) {}

    std::int64_t output_size(std::int64_t i) const { return shape_.length(i); }
    std::int64_t n_local(std::int64_t i) const { return shape_.n_local(i); }
    std::int64_t n_shared() const { return 0; }
    void prepare(const double*) {}

    double score(std::int64_t i, const double* local, const std::int32_t* codes) const {
        double sum = 0.0;
        each_part(i, codes, [&](std::int64_t part) { sum += local[part]; });
        return sum;
    }

    template <class Visit>
    void each_part(std::int64_t i, const std::int32_t* codes, Visit&& visit) const {
        const std::int64_t n = shape_.length(i);
        for (std::int64_t m = 1; m <= n; ++m) visit(part(i, codes, m));
        if (!shape_.siblings) return;
        std::vector<std::int32_t> siblings;
        find_siblings(n, shape_.n_labels, codes, siblings);
        for (std::int64_t m = 1; m <= n; ++m) visit(sibling_part(i, codes, siblings, m));
    }
    // A token has one arc and one sibling in every tree. Moves are between labels of one arc; all else comes or goes.
    template <class Visit>
    void each_move(std::int64_t i, const std::int32_t* codes, const std::int32_t* other, Visit&& visit) const {
        const std::int64_t n = shape_.length(i), L = shape_.n_labels;
        for (std::int64_t m = 1; m <= n; ++m) {
            if (codes[m - 1] == other[m - 1]) continue;
            if (codes[m - 1] / L == other[m - 1] / L)
                visit(part(i, codes, m), part(i, other, m));
            else
                visit(part(i, codes, m), -1), visit(-1, part(i, other, m));
        }
        if (!shape_.siblings) return;
        std::vector<std::int32_t> siblings, others;
        find_siblings(n, L, codes, siblings), find_siblings(n, L, other, others);
        for (std::int64_t m = 1; m <= n; ++m) {
            const std::int64_t plus = sibling_part(i, codes, siblings, m), minus = sibling_part(i, other, others, m);
            if (plus != minus) visit(plus, -1), visit(-1, minus);
        }
    }

protected:
    std::int64_t part(std::int64_t i, const std::int32_t* codes, std::int64_t m) const {
        return shape_.arc(i, codes[m - 1] / shape_.n_labels, m) + codes[m - 1] % shape_.n_labels;
    }
    std::int64_t sibling_part(std::int64_t i, const std::int32_t* codes, const std::vector<std::int32_t>& siblings,
                              std::int64_t m) const {
        return shape_.sibling(i, codes[m - 1] / shape_.n_labels, siblings[m], m);
    }

    // The probabilities of labelled arcs, from those of arcs, (n + 1, n + 1), and their sums over labels.
    void share_labels(std::int64_t i, const double* local, const double* sums, const double* arcs, double* of_local) const {
        const std::int64_t n = shape_.length(i), L = shape_.n_labels;
        std::fill_n(of_local, shape_.n_arcs(i) * L, 0.0);
        for (std::int64_t head = 0; head <= n; ++head)
            for (std::int64_t m = 1; m <= n; ++m) {
                const double p = arcs[head * (n + 1) + m], sum = sums[head * (n + 1) + m];
                if (p == 0.0 || sum == minus_infinity) continue;
                const std::int64_t at = shape_.arc(i, head, m);
                for (std::int64_t l = 0; l < L; ++l)
                    if (shape_.allows_label(i, m, l)) of_local[at + l] = L == 1 ? p : p * std::exp(local[at + l] - sum);
            }
    }

    DependencyShape shape_;
};

}  // namespace structlearn
