#pragma once

#include <unordered_map>

#include "grammar/chart.hpp"
#include "linear/log_weights.hpp"

namespace structlearn {

// All ways to make a base item: visit(value, rule, split, left item, right item), with tops as children. A word under its
// tag has split 0 and no children.
template <bool sums>
class Edges {
public:
    template <class Visit>
    void operator()(const Chart<sums>& chart, GrammarScores& scores, std::int64_t begin, std::int64_t end,
                    std::int32_t symbol, Visit&& visit) {
        const GrammarRules& rules = scores.rules();
        scores.enter(begin, end);
        const double node = scores.node(symbol);
        if (end == begin + 1 && scores.word(begin) >= 0) {
            const std::int32_t word = scores.word(begin);
            for (std::int32_t k = rules.word_begin[word]; k < rules.word_begin[word + 1]; ++k)
                if (rules.word_tag[k] == symbol) visit(scores.lexical(k) + node, k, 0, -1, -1);
        }
        item_.resize(static_cast<std::size_t>(rules.n_symbols), -1);
        for (std::int64_t split = begin + 1; split < end; ++split) {
            const std::int64_t left_cell = chart.cell(begin, split), right_cell = chart.cell(split, end);
            for (std::int32_t t = chart.tops.begin[left_cell]; t < chart.tops.end[left_cell]; ++t)
                item_[chart.tops.symbol[t]] = t;
            for (std::int32_t r : rules.of_parent[symbol]) {
                const std::int32_t left = item_[rules.left[r]];
                if (left < 0) continue;
                const std::int32_t right = chart.tops.find(right_cell, rules.right[r]);
                if (right < 0) continue;
                const double value = chart.tops.value[left] + chart.tops.value[right] + scores.rule(r) + node;
                visit(value, r, static_cast<std::int32_t>(split), left, right);
            }
            for (std::int32_t t = chart.tops.begin[left_cell]; t < chart.tops.end[left_cell]; ++t)
                item_[chart.tops.symbol[t]] = -1;
        }
    }

private:
    std::vector<std::int32_t> item_;
};

// The k best trees, lazily (Huang and Chiang 2005, Algorithm 3): after one pass for maxima, an item looks for its second
// best tree only when it is asked for.
class BestTrees {
public:
    // The codes of the best k trees, or fewer, with their scores; `chart` must have run.
    void run(const Chart<false>& chart, GrammarScores& scores, std::int64_t k,
             std::vector<std::vector<std::int32_t>>& codes, std::vector<double>& values) {
        chart_ = &chart, scores_ = &scores;
        items_.clear(), places_.clear();
        const std::int32_t root = place(0, chart.n, -1, Kind::root);
        for (std::int64_t which = 0; which < k && reach(root, which); ++which) {
            values.push_back(items_[root].found[which].value);
            codes.emplace_back();
            write(root, which, codes.back());
        }
    }

private:
    enum class Kind { root, top, base };
    // How a tree of an item is made of the trees of others; `left` and `right` are which of theirs.
    struct Tree {
        double value;
        std::int32_t rule, split;
        std::int32_t left_item, right_item;
        std::int32_t left, right;
        bool operator<(const Tree& other) const { return value < other.value; }
    };
    struct Item {
        std::int64_t begin, end;
        std::int32_t symbol;
        Kind kind;
        bool opened = false;
        std::vector<Tree> found, candidates;  // candidates are a heap
    };

    std::int32_t place(std::int64_t begin, std::int64_t end, std::int32_t symbol, Kind kind) {
        const std::int64_t key =
            (chart_->cell(begin, end) * (scores_->rules().n_symbols + 1) + symbol + 1) * 2 + (kind == Kind::base);
        const auto [found, fresh] = places_.try_emplace(key, static_cast<std::int32_t>(items_.size()));
        if (fresh) items_.push_back({begin, end, symbol, kind, false, {}, {}});
        return found->second;
    }

    // Whether an item has so many trees.
    bool reach(std::int32_t at, std::int64_t which) {
        if (!items_[at].opened) open(at);
        while (static_cast<std::int64_t>(items_[at].found.size()) <= which) {
            if (!items_[at].found.empty()) add_neighbours(at);
            Item& item = items_[at];
            if (item.candidates.empty()) return false;
            std::pop_heap(item.candidates.begin(), item.candidates.end());
            item.found.push_back(item.candidates.back());
            item.candidates.pop_back();
        }
        return true;
    }

    void open(std::int32_t at) {
        items_[at].opened = true;
        const auto [begin, end, symbol, kind] = where(at);
        std::vector<Tree> trees;
        const GrammarRules& rules = scores_->rules();
        const std::int64_t cell = chart_->cell(begin, end);
        if (kind == Kind::root) {
            chart_->for_each_root(*scores_, [&](std::int32_t item, double value) {
                const std::int32_t s = chart_->tops.symbol[item];
                trees.push_back({value, rules.start_of[s], 0, place(begin, end, s, Kind::top), -1, 0, 0});
            });
        } else if (kind == Kind::top) {
            scores_->enter(begin, end);
            auto add = [&](std::int32_t bottom, double above, std::int32_t chain) {
                const std::int32_t b = chart_->bases.find(cell, bottom);
                if (b < 0) return;
                trees.push_back({chart_->bases.value[b] + above, chain, 0, place(begin, end, bottom, Kind::base), -1, 0, 0});
            };
            add(symbol, 0.0, -1);
            for (std::int32_t c : rules.chains_of_top[symbol]) add(rules.chains[c].bottom, scores_->chain(c), c);
        } else {
            edges_(*chart_, *scores_, begin, end, symbol,
                   [&](double value, std::int32_t rule, std::int32_t split, std::int32_t left, std::int32_t right) {
                       Tree tree{value, rule, split, -1, -1, 0, 0};
                       if (split > 0) {
                           tree.left_item = place(begin, split, chart_->tops.symbol[left], Kind::top);
                           tree.right_item = place(split, end, chart_->tops.symbol[right], Kind::top);
                       }
                       trees.push_back(tree);
                   });
        }
        std::erase_if(trees, [](const Tree& tree) { return tree.value == no_tree; });
        std::make_heap(trees.begin(), trees.end());
        items_[at].candidates = std::move(trees);
    }

    // After a tree, one with the next left or the next right part can follow; each pair is reached in one way only.
    void add_neighbours(std::int32_t at) {
        const Tree last = items_[at].found.back();
        if (last.left_item >= 0 && last.right == 0 && reach(last.left_item, last.left + 1)) {
            Tree next = last;
            next.value += value(last.left_item, last.left + 1) - value(last.left_item, last.left);
            ++next.left;
            push(at, next);
        }
        if (last.right_item >= 0 && reach(last.right_item, last.right + 1)) {
            Tree next = last;
            next.value += value(last.right_item, last.right + 1) - value(last.right_item, last.right);
            ++next.right;
            push(at, next);
        }
    }
    void push(std::int32_t at, const Tree& tree) {
        items_[at].candidates.push_back(tree);
        std::push_heap(items_[at].candidates.begin(), items_[at].candidates.end());
    }
    double value(std::int32_t at, std::int64_t which) const { return items_[at].found[which].value; }

    void write(std::int32_t at, std::int64_t which, std::vector<std::int32_t>& codes) {
        reach(at, which);
        const GrammarRules& rules = scores_->rules();
        const Tree tree = items_[at].found[which];
        if (items_[at].kind == Kind::root) {
            codes.push_back(static_cast<std::int32_t>(rules.starts_at() + tree.rule));
        } else if (items_[at].kind == Kind::top) {
            if (tree.rule >= 0) Chart<false>::append_chain(rules, tree.rule, codes);
        } else if (tree.split > 0) {
            codes.push_back(tree.rule);
        } else if (rules.lexical) {
            codes.push_back(static_cast<std::int32_t>(rules.words_at() + tree.rule));
        }
        if (tree.left_item >= 0) write(tree.left_item, tree.left, codes);
        if (tree.right_item >= 0) write(tree.right_item, tree.right, codes);
    }

    struct Where {
        std::int64_t begin, end;
        std::int32_t symbol;
        Kind kind;
    };
    Where where(std::int32_t at) const {
        return {items_[at].begin, items_[at].end, items_[at].symbol, items_[at].kind};
    }

    const Chart<false>* chart_ = nullptr;
    GrammarScores* scores_ = nullptr;
    std::vector<Item> items_;
    std::unordered_map<std::int64_t, std::int32_t> places_;
    Edges<false> edges_;
};

// Draws trees with probability exp F(y) / Z.
class TreeSampler {
public:
    // Appends the codes of a tree; uniform() gives numbers of [0, 1).
    template <class Uniform>
    void run(const Chart<true>& chart, GrammarScores& scores, Uniform&& uniform, std::vector<std::int32_t>& codes) {
        const GrammarRules& rules = scores.rules();
        std::vector<Choice> choices;
        chart.for_each_root(scores, [&](std::int32_t t, double value) { choices.push_back({value, 0, 0, t, -1}); });
        if (choices.empty()) return;
        const std::int32_t symbol = chart.tops.symbol[drawn(choices, uniform()).left];
        codes.push_back(static_cast<std::int32_t>(rules.starts_at() + rules.start_of[symbol]));
        below(chart, scores, 0, chart.n, symbol, uniform, codes);
    }

private:
    struct Choice {
        double value;
        std::int32_t rule, split, left, right;
    };
    const Choice& drawn(const std::vector<Choice>& choices, double uniform) {
        weight_.clear();
        for (const Choice& choice : choices) weight_.push_back(choice.value);
        return choices[draw(static_cast<std::int64_t>(choices.size()), weight_.data(), uniform)];
    }

    template <class Uniform>
    void below(const Chart<true>& chart, GrammarScores& scores, std::int64_t begin, std::int64_t end,
               std::int32_t symbol, Uniform& uniform, std::vector<std::int32_t>& codes) {
        const GrammarRules& rules = scores.rules();
        const std::int64_t cell = chart.cell(begin, end);
        scores.enter(begin, end);
        std::vector<Choice> choices;
        auto add = [&](std::int32_t bottom, double above, std::int32_t chain) {
            const std::int32_t b = chart.bases.find(cell, bottom);
            if (b >= 0) choices.push_back({chart.bases.value[b] + above, chain, 0, bottom, -1});
        };
        add(symbol, 0.0, -1);
        for (std::int32_t c : rules.chains_of_top[symbol]) add(rules.chains[c].bottom, scores.chain(c), c);
        const Choice chain = drawn(choices, uniform());
        if (chain.rule >= 0) Chart<true>::append_chain(rules, chain.rule, codes);
        choices.clear();
        edges_(chart, scores, begin, end, chain.left,
               [&](double value, std::int32_t rule, std::int32_t split, std::int32_t left, std::int32_t right) {
                   choices.push_back({value, rule, split, left, right});
               });
        const Choice edge = drawn(choices, uniform());
        if (edge.split == 0) {
            if (rules.lexical) codes.push_back(static_cast<std::int32_t>(rules.words_at() + edge.rule));
            return;
        }
        codes.push_back(edge.rule);
        below(chart, scores, begin, edge.split, rules.left[edge.rule], uniform, codes);
        below(chart, scores, edge.split, end, rules.right[edge.rule], uniform, codes);
    }

    std::vector<double> weight_;
    Edges<true> edges_;
};

}  // namespace structlearn
