#pragma once

#include "grammar/chart.hpp"

namespace structlearn {

// From the whole sentence down to the words, what trees through each item are worth: for maxima the score of the best of
// them, for sums the expected number of times that a tree has the item.
template <Semiring S>
class Descent {
public:
    // rule(code, begin, split, end, value) is called for all that was used, with a split of −1 for all but binary rules;
    // node(label, begin, end, value) for all phrases.
    template <class Rule, class Node>
    void run(Chart<S>& chart, GrammarScores& scores, Rule&& rule, Node&& node) {
        const GrammarRules& rules = scores.rules();
        const std::int64_t n = chart.n;
        tops.assign(chart.tops.symbol.size(), none);
        bases.assign(chart.bases.symbol.size(), none);
        raw_.resize(static_cast<std::size_t>(rules.n_symbols)), value_.resize(raw_.size(), none);
        chart.for_each_root(scores, [&](std::int32_t item, double value) {
            tops[item] = S::idempotent ? value : std::exp(value - chart.root);
            rule(rules.starts_at() + rules.start_of[chart.tops.symbol[item]], 0, -1, n, tops[item]);
        });
        for (std::int64_t end = n; end > 0; --end) {
            right_value_.assign(static_cast<std::size_t>(n * rules.n_plain), no_tree);
            right_item_.resize(right_value_.size());
            here_ = &chart.rules_before(scores, end);
            for (std::int64_t begin = 0; begin < end; ++begin) {
                const std::int64_t cell = chart.cell(begin, end);
                for (std::int32_t t = chart.tops.begin[cell]; t < chart.tops.end[cell]; ++t) {
                    const std::int32_t s = chart.tops.symbol[t];
                    if (s >= rules.n_plain) break;
                    right_value_[begin * rules.n_plain + s] = chart.tops.value[t];
                    right_item_[begin * rules.n_plain + s] = t;
                }
            }
            for (std::int64_t begin = 0; begin < end; ++begin) {
                unfold_chains(chart, scores, begin, end, rule, node);
                unfold_rules(chart, scores, begin, end, rule);
            }
        }
    }

    std::vector<double> bases, tops;  // by item

private:
    static constexpr double none = S::idempotent ? no_tree : 0.0;
    static double share(double value, double difference) {
        if constexpr (S::idempotent) return value + difference;
        else return difference > -40.0 ? value * std::exp(difference) : 0.0;
    }
    static void join(double& into, double value) {
        if constexpr (S::idempotent) into = std::max(into, value);
        else into += value;
    }

    template <class Rule, class Node>
    void unfold_chains(const Chart<S>& chart, GrammarScores& scores, std::int64_t begin, std::int64_t end,
                       Rule& rule, Node& node) {
        const GrammarRules& rules = scores.rules();
        const std::int64_t cell = chart.cell(begin, end);
        scores.enter(begin, end);
        // Tops by symbol, for chains to find them.
        for (std::int32_t t = chart.tops.begin[cell]; t < chart.tops.end[cell]; ++t) {
            raw_[chart.tops.symbol[t]] = chart.tops.value[t];
            value_[chart.tops.symbol[t]] = tops[t];
        }
        for (std::int32_t b = chart.bases.begin[cell]; b < chart.bases.end[cell]; ++b) {
            const std::int32_t s = chart.bases.symbol[b];
            const double value = chart.bases.value[b];
            double& through = bases[b];
            if (value_[s] != none) join(through, share(value_[s], value + scores.bare(s) - raw_[s]));
            if (s < rules.n_plain) {
                for (std::int32_t c = rules.chain_begin[s]; c < rules.chain_begin[s + 1]; ++c) {
                    const UnaryChain& chain = rules.chains[c];
                    if (value_[chain.top] == none) continue;
                    const double part = share(value_[chain.top], value + scores.chain(c) - raw_[chain.top]);
                    if (part == none) continue;
                    join(through, part);
                    for (std::int32_t k = chain.begin; k < chain.end; ++k) {
                        const std::int32_t u = rules.chain_rules[k];
                        rule(rules.unary_at() + u, begin, -1, end, part);
                        node(rules.label[rules.upper[u]], begin, end, part);
                    }
                }
            }
            if (rules.label[s] >= 0 && through != none) node(rules.label[s], begin, end, through);
        }
        for (std::int32_t t = chart.tops.begin[cell]; t < chart.tops.end[cell]; ++t)
            value_[chart.tops.symbol[t]] = none;
    }

    template <class Rule>
    void unfold_rules(const Chart<S>& chart, const GrammarScores& scores, std::int64_t begin, std::int64_t end,
                      Rule& rule) {
        const GrammarRules& rules = scores.rules();
        const std::int64_t cell = chart.cell(begin, end);
        const std::int32_t first = chart.bases.begin[cell], last = chart.bases.end[cell];
        for (std::int32_t b = first; b < last; ++b) {
            const std::int32_t s = chart.bases.symbol[b];
            raw_[s] = chart.bases.value[b] - scores.node(s);
            value_[s] = bases[b];
        }
        if (end == begin + 1) {
            const std::int32_t word = scores.word(begin);
            for (std::int32_t k = word < 0 ? 0 : rules.word_begin[word];
                 rules.lexical && word >= 0 && k < rules.word_begin[word + 1]; ++k)
                if (value_[rules.word_tag[k]] != none) rule(rules.words_at() + k, begin, -1, end, value_[rules.word_tag[k]]);
        }
        const double* weight = scores.binary();
        for (std::int64_t split = begin + 1; split < end; ++split) {
            const std::int64_t left_cell = chart.cell(begin, split);
            for (std::int32_t t = chart.tops.begin[left_cell]; t < chart.tops.end[left_cell]; ++t) {
                const std::int32_t left = chart.tops.symbol[t];
                for (std::int32_t p = here_->pair_begin[left]; p < here_->pair_begin[left + 1]; ++p) {
                    const std::int64_t place = split * rules.n_plain + here_->pair_right[p];
                    if (right_value_[place] == no_tree) continue;
                    const double children = chart.tops.value[t] + right_value_[place];
                    for (std::int32_t k = here_->rule_begin[p]; k < here_->rule_begin[p + 1]; ++k) {
                        const std::int32_t r = here_->rule[k];
                        const std::int32_t s = rules.parent[r];
                        if (value_[s] == none) continue;
                        const double part = share(value_[s], children + weight[r] - raw_[s]);
                        if (part == none) continue;
                        rule(r, begin, split, end, part);
                        join(tops[t], part);
                        join(tops[right_item_[place]], part);
                    }
                }
            }
        }
        for (std::int32_t b = first; b < last; ++b) value_[chart.bases.symbol[b]] = none;
    }

    std::vector<double> raw_, value_;  // of the present cell, by symbol
    std::vector<double> right_value_;  // (begin, plain symbol) of the cells that end here
    std::vector<std::int32_t> right_item_;
    const RulesHere* here_ = nullptr;
};

}  // namespace structlearn
