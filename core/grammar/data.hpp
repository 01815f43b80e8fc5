#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "batch/ragged.hpp"
#include "grammar/rules.hpp"

namespace structlearn {

// Sentences, and their true trees if there are any.
struct GrammarData {
    const GrammarRules* rules;
    Ragged tokens;              // of the sentences
    const std::int32_t* words;  // the kind of every token, −1 if it can have no tag
    const std::int32_t* edges;  // the kind of every token at the edge of a span; null without such features
    Ragged trees;               // the true ones, in an array of codes
    Ragged brackets;            // the true ones
    const std::int32_t* gold;   // of the brackets: (label or −1, begin, end) each

    std::int64_t length(std::int64_t i) const { return tokens.size(i); }

    // Calls visit(column) for the features of a span; the weight of a label is w[spans_at + column · n_labels + label].
    template <class Visit>
    void each_span_feature(std::int64_t i, std::int64_t begin, std::int64_t end, Visit&& visit) const {
        const std::int64_t V = rules->n_edges;
        const std::int64_t n = length(i);
        const std::int32_t* kind = edges + tokens.begin(i);
        // The last kind stands for what is outside of the sentence.
        visit(std::int64_t{kind[begin]});
        visit(V + kind[end - 1]);
        visit(2 * V + (begin > 0 ? kind[begin - 1] : V - 1));
        visit(3 * V + (end < n ? kind[end] : V - 1));
        visit(4 * V + GrammarRules::bucket(end - begin));
    }
};

// A tree is coded by the numbers of its weights (the spans' excepted) from the top, left before right: its start, then
// its rules, and where words have weights those.

// Walks a coded tree: node(label, begin, end) for every phrase, children first.
template <class Node>
void walk_tree(const GrammarRules& rules, std::span<const std::int32_t> codes, Node&& node) {
    if (codes.empty()) return;
    struct Open {
        std::int32_t symbol;
        std::int64_t begin;
        bool closed;
    };
    std::vector<Open> stack{{rules.starts[codes[0] - rules.starts_at()], 0, false}};
    std::int64_t at = 0;
    std::size_t next = 1;
    while (!stack.empty()) {
        Open& open = stack.back();
        const std::int32_t symbol = open.symbol;
        if (open.closed) {
            if (rules.label[symbol] >= 0) node(rules.label[symbol], open.begin, at);
            stack.pop_back();
            continue;
        }
        if (symbol < rules.n_plain && rules.label[symbol] < 0) {
            if (rules.lexical) ++next;
            ++at;
            stack.pop_back();
            continue;
        }
        open.begin = at;
        open.closed = true;
        const std::int32_t code = codes[next++];
        if (code < rules.unary_at()) {
            stack.push_back({rules.right[code], 0, false});
            stack.push_back({rules.left[code], 0, false});
        } else {
            stack.push_back({rules.lower[code - rules.unary_at()], 0, false});
        }
    }
}

}  // namespace structlearn
