#pragma once

#include <cstdint>
#include <vector>

#include "grammar/data.hpp"

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
    }

    const GrammarRules& rules() const { return *shape_.rules; }
    std::int64_t length() const { return shape_.length(i_); }
    std::int32_t word(std::int64_t t) const { return shape_.words[shape_.tokens.begin(i_) + t]; }
    double rule(std::int64_t r) const { return w_[r]; }
    const double* binary() const { return w_; }
    double start(std::int32_t s) const { return w_[rules().starts_at() + s]; }
    double lexical(std::int32_t entry) const { return rules().lexical ? w_[rules().words_at() + entry] : 0.0; }

    // Makes the scores of phrases in a cell those of `node` and `chain`.
    void enter(std::int64_t begin, std::int64_t end) {
        if (local_) nodes_ = local_ + shape_.span_at(i_, begin, end);
    }
    // Of a symbol as the lowest node of a cell.
    double node(std::int32_t symbol) const {
        const std::int32_t label = rules().label[symbol];
        return nodes_ && label >= 0 ? nodes_[label] : 0.0;
    }
    // Of the rules of a chain, and of the phrases above its bottom.
    double chain(std::int32_t c) const {
        if (!nodes_) return chain_[c];
        double sum = chain_[c];
        const UnaryChain& chain = rules().chains[c];
        for (std::int32_t k = chain.begin; k < chain.end; ++k)
            sum += nodes_[rules().label[rules().upper[rules().chain_rules[k]]]];
        return sum;
    }

private:
    GrammarShape shape_;
    const double* w_ = nullptr;
    const double* local_ = nullptr;
    const double* nodes_ = nullptr;
    std::int64_t i_ = 0;
    std::vector<double> chain_;
};

}  // namespace structlearn
