#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "derivations/graph.hpp"
#include "hypergraph/k_best.hpp"
#include "hypergraph/levels.hpp"
#include "hypergraph/sampling.hpp"
#include "hypergraph/sums.hpp"
#include "parts/composed.hpp"

namespace structlearn {

// Outputs that are the derivations of listed hypergraphs; all parts are local. An output is coded by the number of its parts
// and these in rising order, or by −1 alone where the goal cannot be derived.
class DerivationStructure {
public:
    explicit DerivationStructure(const DerivationShape& shape) : shape_(shape) {}

    std::int64_t n_local(std::int64_t i) const { return shape_.n_local(i); }
    std::int64_t n_shared() const { return 0; }
    void prepare(const double*) {}

    double best(std::int64_t i, const double* local, Codes& codes) {
        found_.clear(), found_scores_.clear();
        k_best(i, local, 1, found_, found_scores_);
        codes = found_.empty() ? Codes{-1} : found_[0];
        return found_.empty() ? minus_infinity : found_scores_[0];
    }
    double score(std::int64_t i, const double* local, const std::int32_t* codes) const {
        double sum = *codes < 0 ? minus_infinity : 0.0;
        each_part(i, codes, [&](std::int64_t part) { sum += local[part]; });
        return sum;
    }
    void k_best(std::int64_t i, const double* local, std::int64_t k, std::vector<Codes>& found,
                std::vector<double>& scores) {
        const DerivationGraph graph = read(i, local);
        best_values_.run(graph, values_);
        const std::size_t before = found.size();
        BestDerivations(graph).run(k, found, scores);
        for (std::size_t at = before; at < found.size(); ++at) finish(found[at]);
    }
    const std::vector<double>& levels(std::int64_t i, const double* local, const Counting& counted) {
        return levels_.run(counting(i, local, counted), counted);
    }
    void trace_level(std::int64_t i, const double* local, const Counting& counted, std::int64_t level, Codes& codes) {
        levels_.trace(counting(i, local, counted), level, codes);
        finish(codes);
    }

    // Zeros where nothing can be derived.
    double sums(std::int64_t i, const double* local, double* of_local, double*) {
        const DerivationGraph graph = read(i, local);
        log_sums_.run(graph, values_);
        if (of_local) {
            std::fill_n(of_local, n_local(i), 0.0);
            each_expected_edge(graph, expected_, [&](const Edge& edge, double number) {
                shape_.each_part(shape_.first_edge(i) + edge.name, [&](std::int32_t part) { of_local[part] += number; });
            });
        }
        return values_[graph.goal()];
    }
    // How often each edge is expected.
    std::int64_t n_pairs(std::int64_t i) const { return shape_.n_edges(i); }
    void pair_sums(std::int64_t i, const double* local, double* of_edges) {
        const DerivationGraph graph = read(i, local);
        log_sums_.run(graph, values_);
        std::fill_n(of_edges, n_pairs(i), 0.0);
        each_expected_edge(graph, expected_, [&](const Edge& edge, double number) { of_edges[edge.name] = number; });
    }
    template <class Uniform>
    void sample(std::int64_t i, const double* local, Uniform&& uniform, Codes& codes) {
        const DerivationGraph graph = read(i, local);
        if (values_[graph.goal()] == minus_infinity) return codes.assign(1, -1);
        draw_derivation(graph, uniform, codes);
        finish(codes);
    }

    template <class Visit>
    void each_part(std::int64_t, const std::int32_t* codes, Visit&& visit) const {
        for (const std::int32_t part : parts_of(codes)) visit(std::int64_t{part});
    }
    template <class Visit>
    void each_move(std::int64_t, const std::int32_t* codes, const std::int32_t* other, Visit&& visit) const {
        std::vector<std::int64_t> only;
        std::ranges::set_difference(parts_of(codes), parts_of(other), std::back_inserter(only));
        for (const std::int64_t part : only) visit(part, -1);
        only.clear();
        std::ranges::set_difference(parts_of(other), parts_of(codes), std::back_inserter(only));
        for (const std::int64_t part : only) visit(-1, part);
    }

private:
    static std::span<const std::int32_t> parts_of(const std::int32_t* codes) {
        return {codes + 1, static_cast<std::size_t>(std::max(*codes, 0))};
    }
    // From the parts of a derivation to the code of an output.
    static void finish(Codes& codes) {
        std::sort(codes.begin(), codes.end());
        codes.insert(codes.begin(), static_cast<std::int32_t>(codes.size()));
    }

    // The graph of an example with the scores of its edges; its values are those of the last recursion.
    DerivationGraph read(std::int64_t i, const double* local) {
        const std::int64_t first = shape_.first_edge(i);
        edge_scores_.assign(static_cast<std::size_t>(shape_.n_edges(i)), 0.0);
        for (std::size_t e = 0; e < edge_scores_.size(); ++e)
            shape_.each_part(first + static_cast<std::int64_t>(e), [&](std::int32_t part) {
                edge_scores_[e] += shape_.allows(i, part) ? local[part] : minus_infinity;
            });
        values_.resize(static_cast<std::size_t>(shape_.items.size(i)));
        return {shape_, i, edge_scores_.data(), values_.data()};
    }
    DerivationGraph counting(std::int64_t i, const double* local, const Counting& counted) {
        DerivationGraph graph = read(i, local);
        edge_steps_.assign(edge_scores_.size(), 0);
        for (std::size_t e = 0; e < edge_steps_.size(); ++e)
            shape_.each_part(shape_.first_edge(i) + static_cast<std::int64_t>(e),
                             [&](std::int32_t part) { edge_steps_[e] += counted.steps[part]; });
        graph.steps = edge_steps_.data();
        return graph;
    }

    DerivationShape shape_;
    InsideValues<MaxPlus> best_values_;
    InsideValues<LogSum> log_sums_;
    BestPerLevel levels_;
    std::vector<double> edge_scores_, values_, expected_, found_scores_;
    std::vector<std::int32_t> edge_steps_;
    std::vector<Codes> found_;
};

}  // namespace structlearn
