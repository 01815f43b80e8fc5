#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "grammar/data.hpp"

namespace structlearn {

// What a decoder maximises or sums over for one sentence: rules by their weights, and phrases by where they are.
class GrammarScores {
public:
    explicit GrammarScores(const GrammarData& data) : data_(&data) {}

    // Once for all sentences.
    void set_weights(const double* w) {
        w_ = w;
        const GrammarRules& rules = *data_->rules;
        chain_.resize(rules.chains.size());
        for (std::size_t c = 0; c < chain_.size(); ++c) {
            chain_[c] = 0.0;
            for (std::int32_t k = rules.chains[c].begin; k < rules.chains[c].end; ++k)
                chain_[c] += w[rules.unary_at() + rules.chain_rules[k]];
        }
    }

    // `extra` has a score for every label in every cell (begin, end), (length + 1)² × n_labels, or is null.
    void set_sentence(std::int64_t i, const double* extra) {
        i_ = i;
        extra_ = extra;
    }

    const GrammarRules& rules() const { return *data_->rules; }
    std::int64_t length() const { return data_->length(i_); }
    std::int32_t word(std::int64_t t) const { return data_->words[data_->tokens.begin(i_) + t]; }
    double rule(std::int64_t r) const { return w_[r]; }
    const double* binary() const { return w_; }
    double start(std::int32_t s) const { return w_[rules().starts_at() + s]; }
    double lexical(std::int32_t entry) const { return rules().lexical ? w_[rules().words_at() + entry] : 0.0; }

    // Makes the scores of phrases in a cell those of `node` and `chain`.
    void enter(std::int64_t begin, std::int64_t end) {
        const std::int64_t L = rules().n_labels;
        nodes_ = nullptr;
        if (extra_) nodes_ = extra_ + (begin * (length() + 1) + end) * L;
        if (rules().n_edges == 0) return;
        cell_.assign(static_cast<std::size_t>(L), 0.0);
        if (nodes_) std::copy_n(nodes_, L, cell_.begin());
        data_->each_span_feature(i_, begin, end, [&](std::int64_t column) {
            const double* row = w_ + rules().spans_at() + column * L;
            for (std::int64_t l = 0; l < L; ++l) cell_[l] += row[l];
        });
        nodes_ = cell_.data();
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
    const GrammarData* data_;
    const double* w_ = nullptr;
    const double* extra_ = nullptr;
    const double* nodes_ = nullptr;
    std::int64_t i_ = 0;
    std::vector<double> chain_, cell_;
};

}  // namespace structlearn
