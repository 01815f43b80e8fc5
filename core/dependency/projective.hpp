#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dependency/eisner.hpp"
#include "dependency/eisner_descent.hpp"
#include "dependency/eisner_graph.hpp"
#include "dependency/outputs.hpp"
#include "hypergraph/k_best.hpp"
#include "hypergraph/levels.hpp"
#include "hypergraph/sampling.hpp"
#include "hypergraph/trace.hpp"

namespace structlearn {

// Trees without crossing arcs, of first order or with siblings.
class ProjectiveTrees : public DependencyOutputs {
public:
    using DependencyOutputs::DependencyOutputs;

    double best(std::int64_t i, const double* local, Codes& codes) {
        const EisnerScores scores = read(i, local, max_);
        const double score = chart_.run(scores);
        if (score > minus_infinity) trace_best(graph(chart_, scores, i, local), rest_, codes);
        return score;
    }
    void k_best(std::int64_t i, const double* local, std::int64_t k, std::vector<Codes>& found, std::vector<double>& values) {
        const EisnerScores scores = read(i, local, max_);
        chart_.run(scores);
        BestDerivations(graph(chart_, scores, i, local)).run(k, found, values);
    }
    const std::vector<double>& levels(std::int64_t i, const double* local, const Counting& counted) {
        const EisnerScores scores = read(i, local, max_);
        chart_.run(scores);
        return levels_.run(graph(chart_, scores, i, local, counted.steps), counted);
    }
    // After `levels`.
    void trace_level(std::int64_t i, const double* local, const Counting& counted, std::int64_t level, Codes& codes) {
        const EisnerScores scores = read(i, local, max_);
        levels_.trace(graph(chart_, scores, i, local, counted.steps), level, codes);
    }

    // Zeros where there is no tree.
    double sums(std::int64_t i, const double* local, double* of_local, double*) {
        const EisnerScores scores = read(i, local, log_sum_);
        const double log_z = sums_.run(scores);
        if (!of_local) return log_z;
        std::fill_n(of_local, n_local(i), 0.0);
        if (log_z == minus_infinity) return log_z;
        expected_.assign(arcs_.size(), 0.0);
        descent_.run(sums_, scores, expected_.data(), shape_.siblings ? of_local + shape_.n_arcs(i) * shape_.n_labels : nullptr);
        share_labels(i, local, arcs_.data(), expected_.data(), of_local);
        return log_z;
    }
    template <class Uniform>
    void sample(std::int64_t i, const double* local, Uniform&& uniform, Codes& codes) {
        if (sums_.root() == minus_infinity) return codes.assign(static_cast<std::size_t>(output_size(i)), 0);
        const EisnerScores scores = scores_of(i, local);
        draw_derivation(graph(sums_, scores, i, local), uniform, codes);
    }

private:
    template <Semiring S>
    EisnerGraph<S> graph(const EisnerChart<S>& chart, const EisnerScores& scores, std::int64_t i, const double* local,
                         const std::int32_t* steps = nullptr) const {
        return {chart, scores, shape_, i, local, steps};
    }
    template <Semiring S>
    EisnerScores read(std::int64_t i, const double* local, S& semiring) {
        read_arcs(shape_, i, local, semiring, labels_, arcs_);
        return scores_of(i, local);
    }
    EisnerScores scores_of(std::int64_t i, const double* local) const {
        return {shape_.length(i), shape_.single_root, arcs_.data(),
                shape_.siblings ? local + shape_.n_arcs(i) * shape_.n_labels : nullptr};
    }

    MaxPlus max_;
    LogSum log_sum_;
    EisnerChart<MaxPlus> chart_;
    EisnerChart<LogSum> sums_;
    EisnerDescent descent_;
    BestPerLevel levels_;
    std::vector<double> arcs_, labels_, expected_;
    std::vector<std::int64_t> rest_;
};

}  // namespace structlearn
