#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "linear/dense.hpp"

namespace structlearn {

// Rows of a table, one after another: row k is values[begin[k], …, begin[k + 1]).
struct Grouped {
    std::vector<std::int32_t> begin, values;

    // Groups 0, …, n − 1 of the numbers k with group[k] = g, in the order of k.
    static Grouped by(const std::vector<std::int32_t>& group, std::int32_t n) {
        Grouped result{std::vector<std::int32_t>(static_cast<std::size_t>(n) + 1, 0), {}};
        for (std::int32_t g : group) ++result.begin[g + 1];
        for (std::int32_t g = 0; g < n; ++g) result.begin[g + 1] += result.begin[g];
        result.values.resize(group.size());
        std::vector<std::int32_t> next(result.begin.begin(), result.begin.end() - 1);
        for (std::size_t k = 0; k < group.size(); ++k) result.values[next[group[k]]++] = static_cast<std::int32_t>(k);
        return result;
    }
    std::span<const std::int32_t> operator[](std::int32_t g) const {
        return {values.data() + begin[g], static_cast<std::size_t>(begin[g + 1] - begin[g])};
    }
};

// Some unary rules one above the other, from the symbol at the bottom to the one at the top.
struct UnaryChain {
    std::int32_t bottom, top;
    std::int32_t begin, end;  // in UnaryChains::rules
};

// A weighted grammar in binary form. Symbols are numbered: phrases, tags, and then those that binarisation made, which are
// only ever left children. Weights are, one after another, of binary rules (in order of their left, then right child),
// unary rules, symbols of the whole sentence, words under their tags, and of spans by the label of the phrase: by the kinds
// of the tokens at four places, by length, and by the features of the tokens at these places.
struct GrammarRules {
    std::int32_t n_symbols, n_plain, n_labels;  // plain: phrases and tags
    std::vector<std::int32_t> label;            // of every symbol, −1 where it is no phrase
    std::vector<std::uint8_t> counts;           // of every label: whether its phrases are brackets
    std::vector<std::int32_t> parent, left, right;
    std::vector<std::int32_t> upper, lower;     // of unary rules
    std::vector<std::int32_t> starts;
    std::vector<std::int32_t> word_begin, word_tag;  // tags that each kind of token may have
    bool lexical;                                    // whether these have weights
    std::int32_t n_edges, n_buckets;                 // kinds of tokens at the edges of spans, and of lengths; 0 for none
    std::int32_t n_columns;                          // features of tokens

    // Made of the above.
    std::vector<std::int32_t> pair_begin, pair_right, pair_rules;  // the rules of left child l and right child pair_right[p]
    Grouped of_parent;                                             // binary rules
    std::vector<std::int32_t> start_of;                            // which start a symbol is, or −1
    std::vector<UnaryChain> chains;                                    // in order of their bottom
    std::vector<std::int32_t> chain_rules, chain_begin;            // unary rules from the bottom up; chains of a bottom
    Grouped chains_of_top;
    std::vector<std::uint8_t> follows, precedes;  // (tag or end of the sentence, symbol): whether it can come next to it

    std::int64_t unary_at() const { return static_cast<std::int64_t>(parent.size()); }
    std::int64_t starts_at() const { return unary_at() + static_cast<std::int64_t>(upper.size()); }
    std::int64_t words_at() const { return starts_at() + static_cast<std::int64_t>(starts.size()); }
    std::int64_t spans_at() const { return words_at() + (lexical ? static_cast<std::int64_t>(word_tag.size()) : 0); }
    std::int64_t columns_at() const { return spans_at() + (std::int64_t{4} * n_edges + n_buckets) * n_labels; }
    std::int64_t n_weights() const { return columns_at() + std::int64_t{4} * n_columns * n_labels; }

    // Rows of binary rules are (parent, left, right), in order of left and right; those of unary rules (upper, lower).
    // Chains have at most `longest` rules, and no label twice: with weights of any sign, longer ones could score without
    // bound.
    GrammarRules(std::int32_t n_symbols_, std::int32_t n_plain_, std::span<const std::int32_t> label_,
                 std::span<const std::uint8_t> counts_, MatrixView<std::int32_t> binary, MatrixView<std::int32_t> unary,
                 std::span<const std::int32_t> starts_, std::span<const std::int32_t> word_begin_,
                 std::span<const std::int32_t> word_tag_, bool lexical_, std::int32_t n_edges_, std::int32_t n_buckets_,
                 std::int32_t n_columns_, std::int32_t longest)
        : n_symbols(n_symbols_),
          n_plain(n_plain_),
          n_labels(static_cast<std::int32_t>(counts_.size())),
          label(label_.begin(), label_.end()),
          counts(counts_.begin(), counts_.end()),
          starts(starts_.begin(), starts_.end()),
          word_begin(word_begin_.begin(), word_begin_.end()),
          word_tag(word_tag_.begin(), word_tag_.end()),
          lexical(lexical_),
          n_edges(n_edges_),
          n_buckets(n_buckets_),
          n_columns(n_columns_) {
        for (std::size_t r = 0; r < binary.rows; ++r) {
            parent.push_back(binary.row(r)[0]);
            left.push_back(binary.row(r)[1]);
            right.push_back(binary.row(r)[2]);
        }
        for (std::size_t r = 0; r < unary.rows; ++r) {
            upper.push_back(unary.row(r)[0]);
            lower.push_back(unary.row(r)[1]);
        }
        build(longest);
    }

    // The row of `follows` and `precedes` of a tag; that of −1 is the end of the sentence.
    std::int64_t neighbour_row(std::int32_t tag) const {
        return std::int64_t{tag < 0 ? n_plain - n_phrases() : tag - n_phrases()} * n_symbols;
    }
    std::int32_t n_phrases() const {
        return static_cast<std::int32_t>(std::count_if(label.begin(), label.end(), [](std::int32_t l) { return l >= 0; }));
    }

    // How spans of this length count in their features: 1, …, 5, 6-7, 8-11, 12-19, 20 and more.
    static std::int32_t bucket(std::int64_t length) {
        if (length <= 5) return static_cast<std::int32_t>(length) - 1;
        return length < 8 ? 5 : length < 12 ? 6 : length < 20 ? 7 : 8;
    }

private:
    void build(std::int32_t longest) {
        pair_begin.assign(static_cast<std::size_t>(n_symbols) + 1, 0);
        std::size_t r = 0;
        for (std::int32_t l = 0; l < n_symbols; ++l) {
            for (; r < left.size() && left[r] == l; ++r) {
                if (r == 0 || left[r - 1] != l || right[r - 1] != right[r]) {
                    pair_right.push_back(right[r]);
                    pair_rules.push_back(static_cast<std::int32_t>(r));
                }
            }
            pair_begin[l + 1] = static_cast<std::int32_t>(pair_right.size());
        }
        pair_rules.push_back(static_cast<std::int32_t>(left.size()));
        of_parent = Grouped::by(parent, n_symbols);
        start_of.assign(static_cast<std::size_t>(n_symbols), -1);
        for (std::size_t s = 0; s < starts.size(); ++s) start_of[starts[s]] = static_cast<std::int32_t>(s);
        chain_begin.assign(static_cast<std::size_t>(n_plain) + 1, 0);
        const Grouped above = Grouped::by(lower, n_symbols);
        std::vector<std::int32_t> path, labels;
        for (std::int32_t s = 0; s < n_plain; ++s) {
            labels.assign(label[s] >= 0 ? 1 : 0, label[s]);
            extend_chain(above, s, s, longest, path, labels);
            chain_begin[s + 1] = static_cast<std::int32_t>(chains.size());
        }
        std::vector<std::int32_t> tops;
        for (const UnaryChain& chain : chains) tops.push_back(chain.top);
        chains_of_top = Grouped::by(tops, n_symbols);
        find_neighbours();
    }

    // Which tags can stand right after, and right before, the words of a symbol in any tree: FOLLOW sets, and their mirror
    // image. Most symbols of a binarised treebank are parts that only few words can continue.
    void find_neighbours() {
        const std::int32_t n_phrases_ = n_phrases(), K = n_plain - n_phrases_ + 1;
        // Sets of tags are bits, W numbers for each symbol: every rule joins such sets several times.
        const auto W = static_cast<std::size_t>(K + 63) / 64;
        using Sets = std::vector<std::uint64_t>;
        auto add = [&](Sets& to, std::int32_t symbol, std::int32_t tag) {
            to[symbol * W + tag / 64] |= std::uint64_t{1} << tag % 64;
        };
        auto grow = [&](Sets& to, std::int32_t a, const Sets& from, std::int32_t b) {
            std::uint64_t fresh = 0;
            for (std::size_t k = 0; k < W; ++k) {
                fresh |= from[b * W + k] & ~to[a * W + k];
                to[a * W + k] |= from[b * W + k];
            }
            return fresh != 0;
        };
        auto closed = [&](const std::vector<std::int32_t>& near, const std::vector<std::int32_t>& far) {
            // edge: tags at the near end of a symbol; beside: those beyond its far end.
            Sets edge(n_symbols * W, 0), beside(edge.size(), 0);
            for (std::int32_t tag = 0; tag + 1 < K; ++tag) add(edge, n_phrases_ + tag, tag);
            for (bool changed = true; changed;) {
                changed = false;
                for (std::size_t r = 0; r < parent.size(); ++r) changed |= grow(edge, parent[r], edge, near[r]);
                for (std::size_t u = 0; u < upper.size(); ++u) changed |= grow(edge, upper[u], edge, lower[u]);
            }
            for (std::int32_t s : starts) add(beside, s, K - 1);
            for (bool changed = true; changed;) {
                changed = false;
                for (std::size_t r = 0; r < parent.size(); ++r) {
                    changed |= grow(beside, near[r], edge, far[r]);
                    changed |= grow(beside, far[r], beside, parent[r]);
                }
                for (std::size_t u = 0; u < upper.size(); ++u) changed |= grow(beside, lower[u], beside, upper[u]);
            }
            std::vector<std::uint8_t> rows(static_cast<std::size_t>(K) * n_symbols);
            for (std::int32_t s = 0; s < n_symbols; ++s)
                for (std::int32_t t = 0; t < K; ++t)
                    rows[std::size_t(t) * n_symbols + s] = beside[s * W + t / 64] >> t % 64 & 1;
            return rows;
        };
        follows = closed(left, right);
        precedes = closed(right, left);
    }

    void extend_chain(const Grouped& above, std::int32_t bottom, std::int32_t top, std::int32_t longest,
                      std::vector<std::int32_t>& path, std::vector<std::int32_t>& labels) {
        if (static_cast<std::int32_t>(path.size()) == longest) return;
        for (std::int32_t u : above[top]) {
            const std::int32_t next = upper[u];
            if (std::find(labels.begin(), labels.end(), label[next]) != labels.end()) continue;
            if (chains.size() >= 4'000'000) throw std::length_error("the unary rules make more than 4,000,000 chains");
            path.push_back(u), labels.push_back(label[next]);
            const auto begin = static_cast<std::int32_t>(chain_rules.size());
            chain_rules.insert(chain_rules.end(), path.begin(), path.end());
            chains.push_back({bottom, next, begin, static_cast<std::int32_t>(chain_rules.size())});
            extend_chain(above, bottom, next, longest, path, labels);
            path.pop_back(), labels.pop_back();
        }
    }
};

}  // namespace structlearn
