#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "batch/ragged.hpp"
#include "grammar/rules.hpp"

namespace structlearn {

// Sentences and the rules that derive their trees. Shared parts of a tree are its rules, start and words, each as often as the
// tree has it: all that codes stand for. Local ones are its phrases, (length + 1, length + 1, n_labels) by begin, end and label.
//
// Restrictions are phrases that a tree must have: no span of the tree crosses them, and the phrases on their span have the label.
struct KnownPhrase {
    std::int32_t begin, end, label;  // −1 for any label

    bool crosses(std::int64_t b, std::int64_t e) const { return (b < begin && begin < e && e < end) || (begin < b && b < end && end < e); }
};

struct GrammarShape {
    const GrammarRules* rules;
    Ragged tokens;              // of the sentences
    const std::int32_t* words;  // the kind of every token, −1 if it can have no tag
    const KnownPhrase* phrases = nullptr;  // by begin, then end; null for none
    Ragged known = {};                     // of the sentences

    std::int64_t length(std::int64_t i) const { return tokens.size(i); }
    std::int64_t n_shared() const { return rules->spans_at(); }
    std::int64_t n_local(std::int64_t i) const { return span_at(i, length(i) + 1, 0); }
    std::span<const KnownPhrase> known_of(std::int64_t i) const {
        if (!phrases) return {};
        return {phrases + known.begin(i), static_cast<std::size_t>(known.size(i))};
    }
    // The first of the labels of a span.
    std::int64_t span_at(std::int64_t i, std::int64_t begin, std::int64_t end) const {
        return (begin * (length(i) + 1) + end) * rules->n_labels;
    }
};

// A tree is coded by the numbers of its weights (the spans' excepted) from the top, left before right: its start, then
// its rules, and where words have weights those. Where there is none, it is coded by one number below zero.

// Walks a coded tree: rule(code) for every code, node(label, begin, end) for every phrase, children first.
template <class Rule, class Node>
void walk_tree(const GrammarRules& rules, const std::int32_t* codes, Rule&& rule, Node&& node) {
    if (*codes < 0) return;
    rule(*codes);
    struct Open {
        std::int32_t symbol;
        std::int64_t begin;
        bool closed;
    };
    std::vector<Open> stack{{rules.starts[*codes++ - rules.starts_at()], 0, false}};
    std::int64_t at = 0;
    while (!stack.empty()) {
        Open& open = stack.back();
        const std::int32_t symbol = open.symbol;
        if (open.closed) {
            if (rules.label[symbol] >= 0) node(rules.label[symbol], open.begin, at);
            stack.pop_back();
            continue;
        }
        if (symbol < rules.n_plain && rules.label[symbol] < 0) {
            if (rules.lexical) rule(*codes++);
            ++at;
            stack.pop_back();
            continue;
        }
        open.begin = at;
        open.closed = true;
        const std::int32_t code = *codes++;
        rule(code);
        if (code < rules.unary_at()) {
            stack.push_back({rules.right[code], 0, false});
            stack.push_back({rules.left[code], 0, false});
        } else {
            stack.push_back({rules.lower[code - rules.unary_at()], 0, false});
        }
    }
}

}  // namespace structlearn
