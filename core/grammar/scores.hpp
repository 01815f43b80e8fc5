#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "grammar/data.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// What a decoder maximises or sums over for one sentence: rules by their weights, and phrases by where they are.
class GrammarScores {
public:
    explicit GrammarScores(const GrammarShape& shape) : shape_(shape) {}

    // Of the shared parts, once for all sentences.
    void set_weights(const double* w) {
        w_ = w;
        const GrammarRules& rules = *shape_.rules;
        chain_.resize(rules.chains.size());
        for (std::size_t c = 0; c < chain_.size(); ++c) {
            chain_[c] = 0.0;
            for (std::int32_t k = rules.chains[c].begin; k < rules.chains[c].end; ++k)
                chain_[c] += w[rules.unary_at() + rules.chain_rules[k]];
        }
    }

    // With the scores of its local parts, null if all are zero: rules alone are quicker.
    void set_sentence(std::int64_t i, const double* local) {
        i_ = i;
        local_ = local;
        nodes_ = nullptr;
        known_ = shape_.known_of(i);
        required_ = {};
        rules_only_ = !local && known_.empty();
    }

    // Whether a span crosses a phrase that the tree must have.
    bool crosses(std::int64_t begin, std::int64_t end) const {
        return std::ranges::any_of(known_, [=](const KnownPhrase& phrase) { return phrase.crosses(begin, end); });
    }

    const GrammarRules& rules() const { return *shape_.rules; }
    std::int64_t length() const { return shape_.length(i_); }
    std::int32_t word(std::int64_t t) const { return shape_.words[shape_.tokens.begin(i_) + t]; }
    double rule(std::int64_t r) const { return w_[r]; }
    const double* binary() const { return w_; }
    double start(std::int32_t s) const { return w_[rules().starts_at() + s]; }
    double lexical(std::int32_t entry) const { return rules().lexical ? w_[rules().words_at() + entry] : 0.0; }

    // Makes the scores of phrases in a cell those of `node`, `bare` and `chain`.
    void enter(std::int64_t begin, std::int64_t end) {
        if (local_) nodes_ = local_ + shape_.span_at(i_, begin, end);
        if (known_.empty()) return;
        auto before = [](const KnownPhrase& a, const KnownPhrase& b) {
            return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
        };
        const KnownPhrase here{static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end), -1};
        const auto [first, last] = std::equal_range(known_.begin(), known_.end(), here, before);
        required_ = {first, last};
    }
    // Of a symbol as the lowest node of a cell.
    double node(std::int32_t symbol) const {
        const std::int32_t label = rules().label[symbol];
        return nodes_ && label >= 0 ? nodes_[label] : 0.0;
    }
    // Of a symbol as the only node of a cell, beyond that: −∞ where phrases must be there that are not.
    double bare(std::int32_t symbol) const {
        if (rules_only_) return 0.0;
        return std::ranges::all_of(required_, [&](const KnownPhrase& phrase) { return fits(symbol, phrase.label); })
                   ? 0.0
                   : minus_infinity;
    }
    // Of the rules of a chain, and of the phrases above its bottom.
    double chain(std::int32_t c) const {
        if (rules_only_) return chain_[c];
        if (!required_.empty() && !has_required(rules().chains[c])) return minus_infinity;
        if (!nodes_) return chain_[c];
        double sum = chain_[c];
        const UnaryChain& chain = rules().chains[c];
        for (std::int32_t k = chain.begin; k < chain.end; ++k)
            sum += nodes_[rules().label[rules().upper[rules().chain_rules[k]]]];
        return sum;
    }

private:
    // Whether a symbol is a phrase with this label, or with any.
    bool fits(std::int32_t symbol, std::int32_t label) const {
        return label < 0 ? rules().label[symbol] >= 0 : rules().label[symbol] == label;
    }
    bool has_required(const UnaryChain& chain) const {
        return std::ranges::all_of(required_, [&](const KnownPhrase& phrase) {
            bool found = fits(chain.bottom, phrase.label);
            for (std::int32_t k = chain.begin; k < chain.end && !found; ++k)
                found = fits(rules().upper[rules().chain_rules[k]], phrase.label);
            return found;
        });
    }

    GrammarShape shape_;
    const double* w_ = nullptr;
    const double* local_ = nullptr;
    const double* nodes_ = nullptr;
    std::int64_t i_ = 0;
    bool rules_only_ = true;                 // neither phrases that score nor phrases that must be there
    std::span<const KnownPhrase> known_;     // of the sentence
    std::span<const KnownPhrase> required_;  // of the present cell
    std::vector<double> chain_;
};

}  // namespace structlearn
