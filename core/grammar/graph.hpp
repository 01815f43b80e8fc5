#pragma once

#include <cstdint>
#include <vector>

#include "grammar/chart.hpp"
#include "hypergraph/graph.hpp"

namespace structlearn {

// Trees as derivations, with what a chart has found as items: bases, then tops, then the goal. `steps`, which may be null, has
// what each phrase takes, by begin, end and label.
template <Semiring S>
class GrammarGraph {
public:
    GrammarGraph(const Chart<S>& chart, GrammarScores& scores, const std::int32_t* steps = nullptr)
        : chart_(chart), scores_(scores), steps_(steps), cell_(static_cast<std::size_t>(goal())) {
        item_.resize(static_cast<std::size_t>(scores.rules().n_symbols), -1);
        each_cell([&](std::int32_t cell) {
            for (std::int32_t b = chart.bases.begin[cell]; b < chart.bases.end[cell]; ++b) cell_[base(b)] = cell;
            for (std::int32_t t = chart.tops.begin[cell]; t < chart.tops.end[cell]; ++t) cell_[top(t)] = cell;
        });
    }

    std::int64_t goal() const { return top(static_cast<std::int32_t>(chart_.tops.symbol.size())); }
    std::int64_t n_items() const { return goal() + 1; }
    double value(std::int64_t item) const {
        return item < top(0) ? chart_.bases.value[item] : chart_.tops.value[item - top(0)];
    }

    template <class Visit>
    void each_item(Visit&& visit) const {
        each_cell([&](std::int32_t cell) {
            for (std::int32_t b = chart_.bases.begin[cell]; b < chart_.bases.end[cell]; ++b) visit(base(b));
            for (std::int32_t t = chart_.tops.begin[cell]; t < chart_.tops.end[cell]; ++t) visit(top(t));
        });
        visit(goal());
    }
    template <class Visit>
    void each_edge(std::int64_t item, Visit&& visit) const {
        if (item == goal())
            chart_.for_each_root(scores_, [&](std::int32_t t, double) {
                const std::int32_t start = rules().start_of[chart_.tops.symbol[t]];
                visit(Edge{.score = scores_.start(start), .left = top(t), .name = start});
            });
        else if (item >= top(0))
            each_chain(item, visit);
        else
            each_rule(item, visit);
    }
    void write(std::int64_t item, const Edge& edge, Codes& codes) const {
        if (item == goal())
            codes.push_back(static_cast<std::int32_t>(rules().starts_at()) + edge.name);
        else if (item >= top(0)) {
            if (edge.name >= 0) append_chain(rules(), edge.name, codes);
        } else if (edge.left >= 0)
            codes.push_back(edge.name);
        else if (rules().lexical)
            codes.push_back(static_cast<std::int32_t>(rules().words_at()) + edge.name);
    }

private:
    const GrammarRules& rules() const { return scores_.rules(); }
    static std::int64_t base(std::int32_t b) { return b; }
    std::int64_t top(std::int32_t t) const { return static_cast<std::int64_t>(chart_.bases.symbol.size()) + t; }

    // In the order of the chart: columns from the left, in each the shortest spans first.
    template <class Visit>
    void each_cell(Visit&& visit) const {
        for (std::int64_t end = 1; end <= chart_.n; ++end)
            for (std::int64_t begin = end - 1; begin >= 0; --begin)
                visit(static_cast<std::int32_t>(chart_.cell(begin, end)));
    }
    struct Place {
        std::int64_t begin, end;
    };
    Place enter(std::int64_t item) const {
        const std::int64_t cell = cell_[static_cast<std::size_t>(item)];
        const Place place{cell / (chart_.n + 1), cell % (chart_.n + 1)};
        scores_.enter(place.begin, place.end);
        return place;
    }
    // What a phrase of the cell takes.
    std::int32_t step(std::int64_t item, std::int32_t symbol) const {
        const std::int32_t label = rules().label[symbol];
        return steps_ && label >= 0 ? steps_[std::int64_t{cell_[static_cast<std::size_t>(item)]} * rules().n_labels + label] : 0;
    }

    // A top is a base, or a chain of unary rules above one.
    template <class Visit>
    void each_chain(std::int64_t item, Visit& visit) const {
        enter(item);
        const std::int32_t cell = cell_[static_cast<std::size_t>(item)], symbol = chart_.tops.symbol[item - top(0)];
        auto add = [&](std::int32_t bottom, double score, std::int32_t chain, std::int32_t step) {
            const std::int32_t b = chart_.bases.find(cell, bottom);
            if (b >= 0) visit(Edge{.score = score, .left = base(b), .step = step, .name = chain});
        };
        add(symbol, scores_.bare(symbol), -1, 0);
        for (const std::int32_t c : rules().chains_of_top[symbol]) {
            const UnaryChain& chain = rules().chains[c];
            std::int32_t taken = 0;
            for (std::int32_t k = chain.begin; steps_ && k < chain.end; ++k)
                taken += step(item, rules().upper[rules().chain_rules[k]]);
            add(chain.bottom, scores_.chain(c), c, taken);
        }
    }

    // A base is a word under its tag, or a binary rule above two tops.
    template <class Visit>
    void each_rule(std::int64_t item, Visit& visit) const {
        const auto [begin, end] = enter(item);
        const std::int32_t symbol = chart_.bases.symbol[item], taken = step(item, symbol);
        const double node = scores_.node(symbol);
        if (const std::int32_t word = end == begin + 1 ? scores_.word(begin) : -1; word >= 0)
            for (std::int32_t k = rules().word_begin[word]; k < rules().word_begin[word + 1]; ++k)
                if (rules().word_tag[k] == symbol)
                    visit(Edge{.score = scores_.lexical(k), .of_item = node, .step = taken, .name = k});
        const Items& tops = chart_.tops;
        for (std::int64_t split = begin + 1; split < end; ++split) {
            const std::int64_t left_cell = chart_.cell(begin, split), right_cell = chart_.cell(split, end);
            for (std::int32_t t = tops.begin[left_cell]; t < tops.end[left_cell]; ++t) item_[tops.symbol[t]] = t;
            for (const std::int32_t r : rules().of_parent[symbol]) {
                const std::int32_t left = item_[rules().left[r]];
                const std::int32_t right = left < 0 ? -1 : tops.find(right_cell, rules().right[r]);
                if (right >= 0)
                    visit(Edge{.score = scores_.rule(r),
                               .of_item = node,
                               .left = top(left),
                               .right = top(right),
                               .step = taken,
                               .name = r});
            }
            for (std::int32_t t = tops.begin[left_cell]; t < tops.end[left_cell]; ++t) item_[tops.symbol[t]] = -1;
        }
    }

    const Chart<S>& chart_;
    GrammarScores& scores_;
    const std::int32_t* steps_;
    std::vector<std::int32_t> cell_;          // of every item
    mutable std::vector<std::int32_t> item_;  // by symbol, while the edges of one are listed
};

}  // namespace structlearn
