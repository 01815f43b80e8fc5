#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "grammar/scores.hpp"
#include "linear/semirings.hpp"

namespace structlearn {

constexpr double no_tree = minus_infinity;

// How an item came about: a binary rule and the place where its children meet, a word under a tag (split 0), or a chain,
// −1 for none.
struct Back {
    std::int32_t rule;
    std::int32_t split;
};

// Values joined by symbol, and where they came from if that can be said.
template <Semiring S>
class Joined {
public:
    void resize(std::int32_t n_symbols) {
        value.resize(static_cast<std::size_t>(n_symbols), no_tree);
        (S::idempotent ? back.resize(value.size()) : sum_.resize(value.size()));
    }
    void add(std::int32_t symbol, double v, [[maybe_unused]] std::int32_t rule, [[maybe_unused]] std::int32_t split) {
        double& old = value[symbol];
        if (v > old) {
            if (old == no_tree) touched.push_back(symbol);
            if constexpr (S::idempotent) back[symbol] = {rule, split};
            else sum_[symbol] = old == no_tree ? 1.0 : sum_[symbol] * std::exp(old - v) + 1.0;
            old = v;
        } else if constexpr (!S::idempotent) {
            if (v > old - 40.0) sum_[symbol] += std::exp(v - old);
        }
    }
    void finish() {
        if constexpr (!S::idempotent)
            for (std::int32_t symbol : touched) value[symbol] += std::log(sum_[symbol]);
        std::sort(touched.begin(), touched.end());
    }
    void clear() {
        for (std::int32_t symbol : touched) value[symbol] = no_tree;
        touched.clear();
    }

    std::vector<double> value;  // by symbol
    std::vector<Back> back;
    std::vector<std::int32_t> touched;

private:
    std::vector<double> sum_;  // relative to exp value
};

// The symbols of all cells with their values, cell after cell.
struct Items {
    std::vector<std::int32_t> symbol;
    std::vector<double> value;
    std::vector<Back> back;
    std::vector<std::int32_t> begin, end;  // of every cell

    void clear(std::int64_t n_cells) {
        symbol.clear(), value.clear(), back.clear();
        begin.assign(static_cast<std::size_t>(n_cells), 0);
        end.assign(static_cast<std::size_t>(n_cells), 0);
    }
    template <Semiring S>
    void append(std::int64_t cell, const Joined<S>& joined) {
        begin[cell] = static_cast<std::int32_t>(symbol.size());
        for (std::int32_t s : joined.touched) {
            symbol.push_back(s);
            value.push_back(joined.value[s]);
            if constexpr (S::idempotent) back.push_back(joined.back[s]);
        }
        end[cell] = static_cast<std::int32_t>(symbol.size());
    }
    // Where a symbol stands in a cell; −1 if it is not there.
    std::int32_t find(std::int64_t cell, std::int32_t s) const {
        const auto first = symbol.begin() + begin[cell], last = symbol.begin() + end[cell];
        const auto found = std::lower_bound(first, last, s);
        return found != last && *found == s ? static_cast<std::int32_t>(found - symbol.begin()) : -1;
    }
};

// Appends the codes of a chain, from the top.
inline void append_chain(const GrammarRules& rules, std::int32_t c, Codes& codes) {
    for (std::int32_t k = rules.chains[c].end; k > rules.chains[c].begin; --k)
        codes.push_back(static_cast<std::int32_t>(rules.unary_at() + rules.chain_rules[k - 1]));
}

// The binary rules that can be used where a span ends: those whose parent and right child may end there.
struct RulesHere {
    std::vector<std::int32_t> pair_begin, pair_right, rule_begin, rule;

    void narrow(const GrammarRules& rules, const std::uint8_t* may_end) {
        pair_begin.assign(1, 0), rule_begin.assign(1, 0);
        pair_right.clear(), rule.clear();
        for (std::int32_t left = 0; left < rules.n_symbols; ++left) {
            for (std::int32_t p = rules.pair_begin[left]; p < rules.pair_begin[left + 1]; ++p) {
                if (!may_end[rules.pair_right[p]]) continue;
                for (std::int32_t r = rules.pair_rules[p]; r < rules.pair_rules[p + 1]; ++r)
                    if (may_end[rules.parent[r]]) rule.push_back(r);
                if (static_cast<std::int32_t>(rule.size()) == rule_begin.back()) continue;
                pair_right.push_back(rules.pair_right[p]);
                rule_begin.push_back(static_cast<std::int32_t>(rule.size()));
            }
            pair_begin.push_back(static_cast<std::int32_t>(pair_right.size()));
        }
    }
};

// The same for every word that may follow, found when first asked for.
class RulesBefore {
public:
    // Until the next call. `may_end` is what the word allows.
    const RulesHere& operator()(const GrammarRules& rules, std::int32_t word, const std::uint8_t* may_end) {
        const auto known = found_.find(word);
        if (known != found_.end()) return known->second;
        // Some 16 MB.
        if (found_.size() > (std::size_t{1} << 20) / (rules.parent.size() + 1)) found_.clear();
        RulesHere& here = found_[word];
        here.narrow(rules, may_end);
        return here;
    }

private:
    std::unordered_map<std::int32_t, RulesHere> found_;
};

// CKY: for every cell (begin, end), which symbols can span it and the sum, in the semiring, of the scores of their trees.
// The base of a cell is what a binary rule or a word gives, the tops what unary chains make of it. Cells are filled
// column by column, so that right children are looked up in a small table and left children are lists. Symbols that no tree
// can have beside the neighbouring words are left out; no tree is lost by that. Cells that cross a known phrase stay empty.
template <Semiring S>
class Chart {
public:
    // The sum over all trees; −∞ if the sentence has none.
    double run(GrammarScores& scores) {
        const GrammarRules& rules = scores.rules();
        n = scores.length();
        base_.resize(rules.n_symbols), top_.resize(rules.n_symbols);
        bases.clear((n + 1) * (n + 1)), tops.clear((n + 1) * (n + 1));
        look_around(scores);
        for (std::int64_t end = 1; end <= n; ++end) {
            column_.assign(static_cast<std::size_t>(n * rules.n_plain), no_tree);
            here_ = &rules_before(scores, end);
            for (std::int64_t begin = end - 1; begin >= 0; --begin)
                if (!scores.crosses(begin, end)) fill(scores, begin, end);
        }
        root = no_tree;
        double sum = 0.0;
        for_each_root(scores, [&](std::int32_t item, double value) {
            if constexpr (!S::idempotent)
                sum = value > root ? sum * std::exp(root - value) + 1.0 : sum + std::exp(value - root);
            if (value > root) root = value, root_item = item;
        });
        if (!S::idempotent && root != no_tree) root += std::log(sum);
        return root;
    }

    std::int64_t cell(std::int64_t begin, std::int64_t end) const { return begin * (n + 1) + end; }
    // The rules that can be used where a span ends, until the next call.
    const RulesHere& rules_before(const GrammarScores& scores, std::int64_t end) {
        const GrammarRules& rules = scores.rules();
        const std::int32_t end_of_sentence = -2;  // −1 is an unknown word
        return rules_before_(rules, end < n ? scores.word(end) : end_of_sentence, &may_end_[end * rules.n_symbols]);
    }

    // visit(item, value with the weight of the start) for everything that spans the sentence and may.
    template <class Visit>
    void for_each_root(const GrammarScores& scores, Visit&& visit) const {
        if (n == 0) return;
        const std::int64_t whole = cell(0, n);
        for (std::int32_t t = tops.begin[whole]; t < tops.end[whole]; ++t) {
            const std::int32_t start = scores.rules().start_of[tops.symbol[t]];
            if (start >= 0) visit(t, tops.value[t] + scores.start(start));
        }
    }

    // Appends the codes of the best tree; only for maxima.
    void trace(const GrammarScores& scores, Codes& codes) const {
        if (root == no_tree) return;
        codes.push_back(static_cast<std::int32_t>(scores.rules().starts_at() +
                                                  scores.rules().start_of[tops.symbol[root_item]]));
        trace_top(scores, 0, n, tops.symbol[root_item], codes);
    }

    std::int64_t n = 0;
    double root = no_tree;
    std::int32_t root_item = -1;
    Items bases, tops;

private:
    // At every place between words, which symbols may end there, and which may begin.
    void look_around(const GrammarScores& scores) {
        const GrammarRules& rules = scores.rules();
        const std::int64_t N = rules.n_symbols;
        may_end_.assign(static_cast<std::size_t>((n + 1) * N), 0), may_begin_.assign(may_end_.size(), 0);
        auto add = [&](std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& rows, std::int64_t at,
                       std::int64_t neighbour) {
            auto row = [&](std::int32_t tag) {
                const std::uint8_t* from = &rows[rules.neighbour_row(tag)];
                for (std::int64_t s = 0; s < N; ++s) to[at * N + s] |= from[s];
            };
            if (neighbour < 0 || neighbour == n) return row(-1);
            const std::int32_t word = scores.word(neighbour);
            for (std::int32_t k = word < 0 ? 0 : rules.word_begin[word]; word >= 0 && k < rules.word_begin[word + 1]; ++k)
                row(rules.word_tag[k]);
        };
        for (std::int64_t at = 0; at <= n; ++at) {
            add(may_end_, rules.follows, at, at);
            add(may_begin_, rules.precedes, at, at - 1);
        }
        allowed_.resize(static_cast<std::size_t>(N));
    }

    void fill(GrammarScores& scores, std::int64_t begin, std::int64_t end) {
        const GrammarRules& rules = scores.rules();
        const std::int64_t N = rules.n_symbols;
        for (std::int64_t s = 0; s < N; ++s) allowed_[s] = may_begin_[begin * N + s] & may_end_[end * N + s];
        if (end == begin + 1) {
            const std::int32_t word = scores.word(begin);
            for (std::int32_t k = word < 0 ? 0 : rules.word_begin[word]; word >= 0 && k < rules.word_begin[word + 1]; ++k)
                if (allowed_[rules.word_tag[k]]) base_.add(rules.word_tag[k], scores.lexical(k), k, 0);
        }
        for (std::int64_t split = begin + 1; split < end; ++split) combine(scores, begin, split);
        base_.finish();
        scores.enter(begin, end);
        for (std::int32_t s : base_.touched) {
            base_.value[s] += scores.node(s);
            top_.add(s, base_.value[s] + scores.bare(s), -1, 0);
            if (s >= rules.n_plain) continue;
            for (std::int32_t c = rules.chain_begin[s]; c < rules.chain_begin[s + 1]; ++c)
                if (allowed_[rules.chains[c].top]) top_.add(rules.chains[c].top, base_.value[s] + scores.chain(c), c, 0);
        }
        top_.finish();
        bases.append(cell(begin, end), base_), tops.append(cell(begin, end), top_);
        double* row = &column_[begin * rules.n_plain];
        for (std::int32_t s : top_.touched)
            if (s < rules.n_plain) row[s] = top_.value[s];
        base_.clear(), top_.clear();
    }

    void combine(const GrammarScores& scores, std::int64_t begin, std::int64_t split) {
        const GrammarRules& rules = scores.rules();
        const double* right = &column_[split * rules.n_plain];
        const double* weight = scores.binary();
        const std::int64_t left_cell = cell(begin, split);
        for (std::int32_t t = tops.begin[left_cell]; t < tops.end[left_cell]; ++t) {
            const std::int32_t left = tops.symbol[t];
            const double left_value = tops.value[t];
            for (std::int32_t p = here_->pair_begin[left]; p < here_->pair_begin[left + 1]; ++p) {
                const double right_value = right[here_->pair_right[p]];
                if (right_value == no_tree) continue;
                for (std::int32_t k = here_->rule_begin[p]; k < here_->rule_begin[p + 1]; ++k) {
                    const std::int32_t r = here_->rule[k];
                    const std::int32_t s = rules.parent[r];
                    if (!allowed_[s]) continue;
                    base_.add(s, left_value + right_value + weight[r], r, static_cast<std::int32_t>(split));
                }
            }
        }
    }

    void trace_top(const GrammarScores& scores, std::int64_t begin, std::int64_t end, std::int32_t symbol,
                   Codes& codes) const {
        const GrammarRules& rules = scores.rules();
        const std::int32_t c = tops.back[tops.find(cell(begin, end), symbol)].rule;
        if (c >= 0) {
            append_chain(rules, c, codes);
            symbol = rules.chains[c].bottom;
        }
        const Back back = bases.back[bases.find(cell(begin, end), symbol)];
        if (back.split == 0) {
            if (rules.lexical) codes.push_back(static_cast<std::int32_t>(rules.words_at() + back.rule));
            return;
        }
        codes.push_back(back.rule);
        trace_top(scores, begin, back.split, rules.left[back.rule], codes);
        trace_top(scores, back.split, end, rules.right[back.rule], codes);
    }

    Joined<S> base_, top_;
    std::vector<double> column_;  // (begin, plain symbol): tops of the cells that end here
    RulesBefore rules_before_;
    const RulesHere* here_ = nullptr;
    std::vector<std::uint8_t> may_end_, may_begin_;  // (place, symbol)
    std::vector<std::uint8_t> allowed_;              // by symbol, in the present cell
};

}  // namespace structlearn
