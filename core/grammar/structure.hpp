#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "grammar/descent.hpp"
#include "grammar/graph.hpp"
#include "grammar/most_violating.hpp"
#include "hypergraph/k_best.hpp"
#include "hypergraph/levels.hpp"
#include "hypergraph/sampling.hpp"
#include "parts/composed.hpp"
#include "parts/moves.hpp"

namespace structlearn {

// Trees that the rules of a grammar derive; see GrammarShape for their parts, and walk_tree for their codes.
class GrammarStructure {
public:
    explicit GrammarStructure(const GrammarShape& shape) : shape_(shape), scores_(shape) {}

    std::int64_t n_local(std::int64_t i) const { return shape_.n_local(i); }
    std::int64_t n_shared() const { return shape_.n_shared(); }
    void prepare(const double* shared) { scores_.set_weights(shared); }

    double best(std::int64_t i, const double* local, Codes& codes) {
        read(i, local);
        const double score = chart_.run(scores_);
        score == no_tree ? codes.push_back(-1) : chart_.trace(scores_, codes);
        return score;
    }
    double score(std::int64_t i, const double* local, const std::int32_t* codes) const {
        if (*codes < 0) return no_tree;
        double sum = 0.0;
        walk_tree(
            *shape_.rules, codes, [&](std::int32_t code) { sum += scores_.rule(code); },
            [&](std::int32_t label, std::int64_t begin, std::int64_t end) {
                sum += local[shape_.span_at(i, begin, end) + label];
            });
        return sum;
    }
    void k_best(std::int64_t i, const double* local, std::int64_t k, std::vector<Codes>& found,
                std::vector<double>& values) {
        read(i, local);
        chart_.run(scores_);
        BestDerivations(GrammarGraph{chart_, scores_}).run(k, found, values);
    }
    const std::vector<double>& levels(std::int64_t i, const double* local, const Counting& counted) {
        read(i, local);
        chart_.run(scores_);
        return levels_.run(GrammarGraph{chart_, scores_, counted.steps}, counted);
    }
    void trace_level(std::int64_t, const double*, const Counting& counted, std::int64_t level, Codes& codes) {
        levels_.trace(GrammarGraph{chart_, scores_, counted.steps}, level, codes);
    }

    // Zeros where there is no tree.
    double sums(std::int64_t i, const double* local, double* of_local, double* of_shared) {
        read(i, local);
        const double log_z = sums_.run(scores_);
        if (!of_local) return log_z;
        std::fill_n(of_local, n_local(i), 0.0);
        std::fill_n(of_shared, n_shared(), 0.0);
        if (log_z == no_tree) return log_z;
        expected_.run(
            sums_, scores_,
            [&](std::int64_t code, std::int64_t, std::int64_t, std::int64_t, double value) { of_shared[code] += value; },
            [&](std::int32_t label, std::int64_t begin, std::int64_t end, double value) {
                of_local[shape_.span_at(i, begin, end) + label] += value;
            });
        return log_z;
    }
    // Calls visit(rule, begin, split, end, number): how often each rule is expected there, with a split of −1 for unary ones.
    template <class Visit>
    void each_expected_rule(std::int64_t i, const double* local, Visit&& visit) {
        read(i, local);
        if (sums_.run(scores_) == no_tree) return;
        expected_.run(
            sums_, scores_,
            [&](std::int64_t code, std::int64_t begin, std::int64_t split, std::int64_t end, double number) {
                if (code < shape_.rules->starts_at() && number > 0.0) visit(code, begin, split, end, number);
            },
            [](auto&&...) {});
    }
    template <class Uniform>
    void sample(std::int64_t, const double*, Uniform&& uniform, Codes& codes) {
        sums_.root == no_tree ? codes.push_back(-1) : draw_derivation(GrammarGraph{sums_, scores_}, uniform, codes);
    }

    // The tree that violates most by a loss of brackets; nothing where none does. It stands in for levels of any counts,
    // because what it leaves out relies on the loss: it falls with the brackets that match and grows with all.
    void most_violating(std::int64_t i, const double* local, const std::int32_t* truth, const BracketLoss& loss,
                        const BracketCells& brackets, Codes& codes) {
        const double true_score = score(i, local, truth);
        Codes top;
        const double top_score = best(i, local, top);
        if (top_score == no_tree) return;
        auto nothing = [](auto&&...) {};
        through_.run(chart_, scores_, nothing, nothing);
        std::int64_t m = 0, t = 0;
        walk_tree(*shape_.rules, top.data(), nothing, [&](std::int32_t label, std::int64_t begin, std::int64_t end) {
            if (!shape_.rules->counts[label]) return;
            m += brackets[shape_.span_at(i, begin, end) + label], ++t;
        });
        const double known = loss.violation(m, t, true_score - top_score);
        violating_.run(chart_, through_, scores_, loss, brackets.data(), true_score, known, codes);
    }

    template <class Visit>
    void each_part(std::int64_t i, const std::int32_t* codes, Visit&& visit) const {
        const std::int64_t n = n_local(i);
        walk_tree(
            *shape_.rules, codes, [&](std::int32_t code) { visit(n + code); },
            [&](std::int32_t label, std::int64_t begin, std::int64_t end) {
                visit(shape_.span_at(i, begin, end) + label);
            });
    }
    template <class Visit>
    void each_move(std::int64_t i, const std::int32_t* codes, const std::int32_t* other, Visit&& visit) const {
        moves_between_parts(*this, i, codes, other, visit);
    }

private:
    void read(std::int64_t i, const double* local) {
        const bool zero = std::all_of(local, local + n_local(i), [](double score) { return score == 0.0; });
        scores_.set_sentence(i, zero ? nullptr : local);
    }

    GrammarShape shape_;
    GrammarScores scores_;
    Chart<MaxPlus> chart_;
    Descent<MaxPlus> through_;
    MostViolatingTree violating_;
    BestPerLevel levels_;
    Chart<LogSum> sums_;
    Descent<LogSum> expected_;
};

}  // namespace structlearn
