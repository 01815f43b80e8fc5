#pragma once

#include "grammar/descent.hpp"

namespace structlearn {

// For each local part of a sentence whether it is a true bracket.
using BracketCells = std::vector<std::uint8_t>;

// How a loss of m matching brackets among t, with G true ones, enters a constraint ξ ≥ b − a⟨w, δΨ⟩. Both 1 − F_β and the
// number of missed and spurious brackets, the missed ones β² times, fall with m and grow with t.
struct BracketLoss {
    bool f1;         // 1 − (1 + β²) m / (β² G + t), otherwise β² G + t − (1 + β²) m
    bool slack;      // a = b, otherwise a = 1
    bool squared;    // b = √Δ, otherwise b = Δ
    double missed;   // β²
    std::int64_t G;  // true brackets

    double size(std::int64_t m, std::int64_t t) const {
        const double sum = missed * static_cast<double>(G) + static_cast<double>(t);
        const double matched = (1.0 + missed) * static_cast<double>(m);
        // Rounding may leave less than nothing.
        const double loss = std::max(f1 ? (sum > 0 ? 1.0 - matched / sum : 0.0) : sum - matched, 0.0);
        return squared ? std::sqrt(loss) : loss;
    }
    // Where `ahead` = ⟨w, δΨ⟩ is by how much the truth scores more.
    double violation(std::int64_t m, std::int64_t t, double ahead) const {
        const double b = size(m, t);
        return b - (slack ? b : 1.0) * ahead;
    }
    // The most by which the truth may be ahead of an output that violates more than `known` ≥ 0, if b is at most `top`.
    double horizon(double known, double top) const { return slack ? 1.0 - known / top : top - known; }
};

// The tree that violates a constraint most. Every item keeps, for numbers (m, t) of matching and of all brackets, its best
// tree: the maximisation is stratified over the values of the loss (Tsochantaridis et al. 2005, section 4.5). Two things
// keep that small without losing the maximum. The violation never falls when m falls, t grows or the score grows (while
// it is positive), so trees beaten in all three by another of their item are dropped. And items whose best complete
// tree, ignoring the loss, scores too little to violate more than a tree that is already known are left out.
class MostViolatingTree {
public:
    // Appends the codes of the tree and returns its violation; appends nothing where none violates by more than 0.
    // `gold` says for each cell and label whether there is such a true bracket.
    double run(const Chart<MaxPlus>& chart, const Descent<MaxPlus>& through, GrammarScores& scores, const BracketLoss& loss,
               const std::uint8_t* gold, double true_score, double known, std::vector<std::int32_t>& codes) {
        chart_ = &chart, scores_ = &scores, gold_ = gold;
        const GrammarRules& rules = scores.rules();
        std::int64_t longest = 0;
        for (const UnaryChain& chain : rules.chains) longest = std::max<std::int64_t>(longest, chain.end - chain.begin);
        most_ = (2 * chart.n - 1) * (longest + 1);
        const double ahead = loss.horizon(std::max(known, 0.0), loss.size(0, most_));
        least_ = true_score - ahead - 1e-9 * (1.0 + std::abs(true_score) + std::abs(ahead));
        states_.clear();
        base_.assign(chart.bases.symbol.size(), {0, 0}), top_.assign(chart.tops.symbol.size(), {0, 0});
        tables_.resize(static_cast<std::size_t>(rules.n_symbols)), matters_.resize(tables_.size());
        for (std::int64_t end = 1; end <= chart.n; ++end) {
            right_.assign(static_cast<std::size_t>(chart.n * rules.n_plain), {0, 0});
            for (std::int64_t begin = end - 1; begin >= 0; --begin) fill(through, begin, end);
        }
        double best = 0.0;
        std::int32_t found = -1, start = -1;
        chart.for_each_root(scores, [&](std::int32_t item, double) {
            const std::int32_t s = rules.start_of[chart.tops.symbol[item]];
            for (std::int32_t k = top_[item].begin; k < top_[item].end; ++k) {
                const State& state = states_[k];
                const double violation = loss.violation(state.m, state.t, true_score - state.score - scores.start(s));
                if (violation > best) best = violation, found = k, start = s;
            }
        });
        if (found >= 0) {
            codes.push_back(static_cast<std::int32_t>(rules.starts_at() + start));
            write(found, codes);
        }
        return best;
    }

private:
    // A tree: how many brackets it has, and what it is made of.
    struct State {
        std::int32_t m, t;
        double score;
        std::int32_t rule, split;  // as in Back; split −1 marks a chain
        std::int32_t left, right;  // states
    };
    struct Range {
        std::int32_t begin, end;
    };

    void fill(const Descent<MaxPlus>& through, std::int64_t begin, std::int64_t end) {
        const GrammarRules& rules = scores_->rules();
        const Chart<MaxPlus>& chart = *chart_;
        const std::int64_t cell = chart.cell(begin, end);
        scores_->enter(begin, end);
        bool alive = false;
        for (std::int32_t b = chart.bases.begin[cell]; b < chart.bases.end[cell]; ++b)
            if (through.bases[b] >= least_) matters_[chart.bases.symbol[b]] = 1, alive = true;
        if (alive) {
            if (end == begin + 1) add_words(begin);
            for (std::int64_t split = begin + 1; split < end; ++split) add_rules(begin, split, end);
        }
        for (std::int32_t b = chart.bases.begin[cell]; b < chart.bases.end[cell]; ++b) {
            const std::int32_t s = chart.bases.symbol[b];
            if (matters_[s]) base_[b] = keep(s);
            matters_[s] = 0;
        }
        if (!alive) return;
        for (std::int32_t t = chart.tops.begin[cell]; t < chart.tops.end[cell]; ++t)
            if (through.tops[t] >= least_) matters_[chart.tops.symbol[t]] = 1;
        for (std::int32_t b = chart.bases.begin[cell]; b < chart.bases.end[cell]; ++b)
            if (base_[b].begin < base_[b].end) add_chains(cell, b);
        for (std::int32_t t = chart.tops.begin[cell]; t < chart.tops.end[cell]; ++t) {
            const std::int32_t s = chart.tops.symbol[t];
            if (matters_[s]) top_[t] = keep(s);
            matters_[s] = 0;
            if (s < rules.n_plain) right_[begin * rules.n_plain + s] = top_[t];
        }
    }

    void add_words(std::int64_t begin) {
        const GrammarRules& rules = scores_->rules();
        const std::int32_t word = scores_->word(begin);
        if (word < 0) return;
        for (std::int32_t k = rules.word_begin[word]; k < rules.word_begin[word + 1]; ++k)
            if (matters_[rules.word_tag[k]]) add(rules.word_tag[k], {0, 0, scores_->lexical(k), k, 0, -1, -1});
    }

    void add_rules(std::int64_t begin, std::int64_t split, std::int64_t end) {
        const GrammarRules& rules = scores_->rules();
        const std::int64_t left_cell = chart_->cell(begin, split);
        const std::uint8_t* here = gold_ + chart_->cell(begin, end) * rules.n_labels;
        for (std::int32_t t = chart_->tops.begin[left_cell]; t < chart_->tops.end[left_cell]; ++t) {
            if (top_[t].begin == top_[t].end) continue;
            const std::int32_t left = chart_->tops.symbol[t];
            for (std::int32_t p = rules.pair_begin[left]; p < rules.pair_begin[left + 1]; ++p) {
                const Range right = right_[split * rules.n_plain + rules.pair_right[p]];
                if (right.begin == right.end) continue;
                for (std::int32_t r = rules.pair_rules[p]; r < rules.pair_rules[p + 1]; ++r) {
                    const std::int32_t symbol = rules.parent[r];
                    if (!matters_[symbol]) continue;
                    const std::int32_t label = rules.label[symbol];
                    const std::int32_t one = label >= 0 && rules.counts[label];
                    const std::int32_t match = one && here[label];
                    const double score = scores_->rule(r) + scores_->node(symbol);
                    for (std::int32_t x = top_[t].begin; x < top_[t].end; ++x)
                        for (std::int32_t y = right.begin; y < right.end; ++y)
                            add(symbol, {states_[x].m + states_[y].m + match, states_[x].t + states_[y].t + one,
                                         states_[x].score + states_[y].score + score, r,
                                         static_cast<std::int32_t>(split), x, y});
                }
            }
        }
    }

    void add_chains(std::int64_t cell, std::int32_t b) {
        const GrammarRules& rules = scores_->rules();
        const std::int32_t bottom = chart_->bases.symbol[b];
        const std::uint8_t* here = gold_ + cell * rules.n_labels;
        auto raise = [&](std::int32_t top, double score, std::int32_t c, std::int32_t match, std::int32_t ones) {
            for (std::int32_t x = base_[b].begin; x < base_[b].end; ++x)
                add(top, {states_[x].m + match, states_[x].t + ones, states_[x].score + score, c, -1, x, -1});
        };
        if (matters_[bottom]) raise(bottom, scores_->bare(bottom), -1, 0, 0);
        if (bottom >= rules.n_plain) return;
        for (std::int32_t c = rules.chain_begin[bottom]; c < rules.chain_begin[bottom + 1]; ++c) {
            const UnaryChain& chain = rules.chains[c];
            if (!matters_[chain.top]) continue;
            std::int32_t match = 0, ones = 0;
            for (std::int32_t k = chain.begin; k < chain.end; ++k) {
                const std::int32_t label = rules.label[rules.upper[rules.chain_rules[k]]];
                ones += rules.counts[label];
                match += rules.counts[label] && here[label];
            }
            raise(chain.top, scores_->chain(c), c, match, ones);
        }
    }

    // Tables are indexed by m and t, which are small numbers.
    void add(std::int32_t symbol, const State& state) {
        auto& table = tables_[symbol];
        if (static_cast<std::size_t>(state.m) >= table.size()) table.resize(static_cast<std::size_t>(state.m) + 1);
        auto& row = table[state.m];
        if (static_cast<std::size_t>(state.t) >= row.size())
            row.resize(static_cast<std::size_t>(state.t) + 1, {0, 0, no_tree, 0, 0, 0, 0});
        if (state.score > row[state.t].score) row[state.t] = state;
    }

    // Empties the table of a symbol into the states, but for those beaten in m, t and score by another.
    Range keep(std::int32_t symbol) {
        const auto begin = static_cast<std::int32_t>(states_.size());
        auto& table = tables_[symbol];
        beaten_.clear();
        for (auto& row : table) {
            if (beaten_.size() < row.size()) beaten_.resize(row.size(), no_tree);
            double best = no_tree;
            for (std::size_t t = beaten_.size(); t-- > 0;) {
                best = std::max(best, beaten_[t]);
                if (t < row.size() && row[t].score > best) {
                    states_.push_back(row[t]);
                    best = row[t].score;
                }
                beaten_[t] = best;
            }
            row.clear();
        }
        return {begin, static_cast<std::int32_t>(states_.size())};
    }

    void write(std::int32_t k, std::vector<std::int32_t>& codes) const {
        const GrammarRules& rules = scores_->rules();
        const State& state = states_[k];
        if (state.split < 0) {
            if (state.rule >= 0) append_chain(rules, state.rule, codes);
            write(state.left, codes);
        } else if (state.split == 0) {
            if (rules.lexical) codes.push_back(static_cast<std::int32_t>(rules.words_at() + state.rule));
        } else {
            codes.push_back(state.rule);
            write(state.left, codes);
            write(state.right, codes);
        }
    }

    const Chart<MaxPlus>* chart_ = nullptr;
    GrammarScores* scores_ = nullptr;
    const std::uint8_t* gold_ = nullptr;
    double least_ = no_tree;  // what a tree must score to matter
    std::int64_t most_ = 0;   // brackets that a tree can have
    std::vector<State> states_;
    std::vector<Range> base_, top_;                 // by item
    std::vector<Range> right_;                      // (begin, plain symbol) of the cells that end here
    std::vector<std::vector<std::vector<State>>> tables_;  // by symbol, m and t
    std::vector<std::uint8_t> matters_;             // by symbol, in the present cell
    std::vector<double> beaten_;
};

}  // namespace structlearn
