#pragma once

#include <cstdint>
#include <vector>

#include "batch/ragged.hpp"
#include "linear/semirings.hpp"

namespace structlearn {

// Which dependency trees there are, and their parts. Each of the tokens 1, …, n of a sentence has a head, another token or the
// root 0, and a label; heads lead to the root. All parts are local: one for every arc, (n + 1, n + 1, n_labels) by head,
// modifier and label, and, with `siblings`, one for every modifier beside the next modifier of the same head on the way to it,
// (n + 1, n + 1, n + 1) by head, sibling and modifier; where there is none on the way the sibling is the head itself. What
// would be an arc to the root, or from a token to itself, is in no tree.
//
// An output is a code for every token: head · n_labels + label.
struct DependencyShape {
    Ragged tokens;
    std::int64_t n_labels;
    bool single_root;  // whether only one token has the root as head
    bool siblings;
    const std::int32_t* known = nullptr;  // (n_tokens, 2): the head and the label that a token must have, −1 for any; or null

    std::int64_t length(std::int64_t i) const { return tokens.size(i); }
    std::int64_t n_arcs(std::int64_t i) const { return (length(i) + 1) * (length(i) + 1); }
    std::int64_t n_siblings(std::int64_t i) const { return siblings ? n_arcs(i) * (length(i) + 1) : 0; }
    std::int64_t n_local(std::int64_t i) const { return n_arcs(i) * n_labels + n_siblings(i); }

    // Where the labels of an arc are among the parts.
    std::int64_t arc(std::int64_t i, std::int64_t head, std::int64_t modifier) const {
        return (head * (length(i) + 1) + modifier) * n_labels;
    }
    std::int64_t sibling(std::int64_t i, std::int64_t head, std::int64_t sibling, std::int64_t modifier) const {
        return n_arcs(i) * n_labels + (head * (length(i) + 1) + sibling) * (length(i) + 1) + modifier;
    }
    bool allows_head(std::int64_t i, std::int64_t head, std::int64_t modifier) const {
        if (modifier == 0 || head == modifier) return false;
        const std::int32_t* of_token = known ? known + 2 * (tokens.begin(i) + modifier - 1) : nullptr;
        return !of_token || of_token[0] < 0 || of_token[0] == head;
    }
    bool allows_label(std::int64_t i, std::int64_t modifier, std::int64_t label) const {
        const std::int32_t* of_token = known ? known + 2 * (tokens.begin(i) + modifier - 1) : nullptr;
        return !of_token || of_token[1] < 0 || of_token[1] == label;
    }
};

// For every token its sibling on the way to the head: sibling[m], the head if there is none.
inline void find_siblings(std::int64_t n, std::int64_t n_labels, const std::int32_t* codes, std::vector<std::int32_t>& sibling) {
    sibling.resize(static_cast<std::size_t>(n + 1));
    std::vector<std::int32_t> last(static_cast<std::size_t>(n + 1));
    auto take = [&](std::int64_t modifier) {
        const auto head = static_cast<std::int32_t>(codes[modifier - 1] / n_labels);
        sibling[modifier] = last[head] > 0 ? last[head] : head;
        last[head] = static_cast<std::int32_t>(modifier);
    };
    for (std::int64_t m = 1; m <= n; ++m)
        if (codes[m - 1] / n_labels < m) take(m);
    std::fill(last.begin(), last.end(), 0);
    for (std::int64_t m = n; m > 0; --m)
        if (codes[m - 1] / n_labels > m) take(m);
}

// The scores of arcs, (n + 1, n + 1) by head and modifier: ⊕ over their labels, −∞ for those that no tree has.
template <Semiring S>
void read_arcs(const DependencyShape& shape, std::int64_t i, const double* local, S& semiring, std::vector<double>& labels,
               std::vector<double>& arcs) {
    const std::int64_t N = shape.length(i) + 1, L = shape.n_labels;
    arcs.assign(static_cast<std::size_t>(N * N), minus_infinity);
    for (std::int64_t head = 0; head < N; ++head)
        for (std::int64_t modifier = 1; modifier < N; ++modifier) {
            if (!shape.allows_head(i, head, modifier)) continue;
            const double* scores = local + shape.arc(i, head, modifier);
            if (shape.known) {
                labels.assign(scores, scores + L);
                for (std::int64_t l = 0; l < L; ++l)
                    if (!shape.allows_label(i, modifier, l)) labels[l] = minus_infinity;
                scores = labels.data();
            }
            arcs[head * N + modifier] = L == 1 ? scores[0] : semiring.total(L, scores);
        }
}

}  // namespace structlearn
