#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "batch/lagged.hpp"
#include "batch/parallel.hpp"
#include "batch/ragged.hpp"
#include "parts/ascent.hpp"
#include "parts/composed.hpp"

namespace structlearn {

// Likelihoods of a composed problem, and ascent on their duals. Values of parts are given one example after another, those
// of local parts before those of shared ones.

template <class Problem>
std::vector<std::int64_t> part_offsets(const Problem& problem, std::span<const std::int64_t> examples) {
    return offsets_of(examples, [&](std::int64_t i) { return problem.size(i); });
}

// θ = A w of the chosen examples.
template <class Problem>
void part_scores(const Problem& problem, std::span<const double> w, std::span<const std::int64_t> examples,
                 std::span<double> theta, int n_threads) {
    const auto at = part_offsets(problem, examples);
    for_each_example(examples, n_threads, problem, [&](std::int64_t k, std::int64_t i, Problem& worker) {
        worker.scores(i, w.data(), theta.data() + at[k]);
    });
}

// log Z and marginals, given the scores of the parts.
template <class Problem>
void part_sums(const Problem& problem, std::span<const double> theta, std::span<const std::int64_t> examples,
               std::span<double> log_z, std::span<double> marginals, int n_threads) {
    const auto at = part_offsets(problem, examples);
    for_each_example(examples, n_threads, problem, [&](std::int64_t k, std::int64_t i, Problem& worker) {
        log_z[k] = worker.sums(i, theta.data() + at[k], marginals.data() + at[k]);
    });
}

// The marginals of the local parts alone, at the weights w. θ exists for one example at a time.
template <class Problem>
RaggedArray<double> local_marginals(const Problem& problem, std::span<const double> w,
                                    std::span<const std::int64_t> examples, int n_threads) {
    RaggedArray<double> found;
    found.offsets = offsets_of(examples, [&](std::int64_t i) { return problem.n_local(i); });
    found.values.resize(static_cast<std::size_t>(found.offsets.back()));
    Problem prepared = problem;
    prepared.prepare(w.data());
    for_each_example(examples, n_threads, prepared, [&](std::int64_t k, std::int64_t i, Problem& worker) {
        std::vector<double> of_shared(static_cast<std::size_t>(worker.scorer.n_shared()));
        worker.structure.sums(i, worker.local(i), found.values.data() + found.offsets[k], of_shared.data());
    });
    return found;
}

// What the structure says of pairs of parts, at the weights w: `n_pairs` numbers of every example.
template <class Problem>
RaggedArray<double> pair_marginals(const Problem& problem, std::span<const double> w,
                                   std::span<const std::int64_t> examples, int n_threads) {
    RaggedArray<double> found;
    found.offsets = offsets_of(examples, [&](std::int64_t i) { return problem.structure.n_pairs(i); });
    found.values.resize(static_cast<std::size_t>(found.offsets.back()));
    Problem prepared = problem;
    prepared.prepare(w.data());
    for_each_example(examples, n_threads, prepared, [&](std::int64_t k, std::int64_t i, Problem& worker) {
        worker.structure.pair_sums(i, worker.local(i), found.values.data() + found.offsets[k]);
    });
    return found;
}

// w += Σ_k coefficients[k] Aᵀ marginals_k
template <class Problem>
void push(const Problem& problem, std::span<const double> marginals, std::span<const std::int64_t> examples,
          std::span<const double> coefficients, std::span<double> w) {
    Problem worker = problem;
    const auto at = part_offsets(problem, examples);
    std::vector<double> change;
    for (std::size_t k = 0; k < examples.size(); ++k) {
        change.assign(marginals.data() + at[k], marginals.data() + at[k + 1]);
        for (double& value : change) value *= coefficients[k];
        worker.push(examples[k], change.data(), w.data());
    }
}

// The marginals of outputs, those of all examples being given: how often each has each part.
template <class Problem>
void indicators(const Problem& problem, std::span<const std::int32_t> outputs, std::span<const std::int64_t> offsets,
                std::span<const std::int64_t> examples, std::span<double> marginals) {
    const CodedOutputs output{outputs, offsets};
    const auto at = part_offsets(problem, examples);
    std::fill_n(marginals.data(), at.back(), 0.0);
    for (std::size_t k = 0; k < examples.size(); ++k)
        problem.subtract(examples[k], output[examples[k]], -1.0, marginals.data() + at[k]);
}

// Fills `losses` with worker.log_loss(i, change) of the chosen examples; the gradient, if asked for, grows by Σ_k weight[k] Aᵀ
// change_k.
template <class Worker>
void add_log_losses(const Worker& prepared, std::span<const std::int64_t> examples, std::span<double> losses,
                    std::optional<std::span<const double>> weight, std::optional<std::span<double>> gradient,
                    int n_threads) {
    Workers<Worker> workers(n_threads, prepared);
    // Gradients are added in the order of the examples, so that they do not depend on the number of threads.
    const std::size_t batch = n_threads > 1 ? 64 : 1;
    std::vector<std::vector<double>> changes(batch);
    for (std::size_t begin = 0; begin < examples.size(); begin += batch) {
        const std::size_t count = std::min(batch, examples.size() - begin);
        workers.run(static_cast<std::int64_t>(count), [&](std::int64_t j, Worker& worker) {
            const std::int64_t i = examples[begin + j];
            std::vector<double>& change = changes[j];
            if (gradient) change.resize(static_cast<std::size_t>(worker.size(i)));
            losses[begin + j] = worker.log_loss(i, gradient ? change.data() : nullptr);
        });
        for (std::size_t j = 0; gradient && j < count; ++j) {
            for (double& value : changes[j]) value *= (*weight)[begin + j];
            workers.first().push(examples[begin + j], changes[j].data(), gradient->data());
        }
    }
}

// A problem and one truth an example.
template <class Problem>
struct OneTruth {
    Problem problem;
    CodedOutputs truth;

    std::int64_t size(std::int64_t i) const { return problem.size(i); }
    double log_loss(std::int64_t i, double* change) { return problem.log_loss(i, truth[i], change); }
    void push(std::int64_t i, const double* change, double* w) { problem.push(i, change, w); }
};

// −log P(y_i | x_i) of the chosen examples; the gradient, if asked for, grows by Σ_k weight[k] times theirs.
template <class Problem>
void log_losses(const Problem& problem, std::span<const double> w, std::span<const std::int64_t> examples,
                std::span<const std::int32_t> truths, std::span<const std::int64_t> truth_offsets,
                std::span<double> losses, std::optional<std::span<const double>> weight,
                std::optional<std::span<double>> gradient, int n_threads) {
    OneTruth<Problem> prepared{problem, {truths, truth_offsets}};
    prepared.problem.prepare(w.data());
    add_log_losses(prepared, examples, losses, weight, gradient, n_threads);
}

// A problem and the same one restricted to the outputs that may be true.
template <class Problem>
struct SeveralTruths {
    Problem problem, possible;
    std::vector<double> marginals;

    std::int64_t size(std::int64_t i) const { return problem.size(i); }
    // log Z − log Z of the possible outputs, and unless `change` is null the difference of their marginals.
    double log_loss(std::int64_t i, double* change) {
        const double* theta = problem.local(i);
        const std::int64_t n = problem.n_local(i);
        if (!change)
            return problem.structure.sums(i, theta, nullptr, nullptr) - possible.structure.sums(i, theta, nullptr, nullptr);
        const double log_z = problem.structure.sums(i, theta, change, change + n);
        marginals.resize(static_cast<std::size_t>(size(i)));
        const double log_possible = possible.structure.sums(i, theta, marginals.data(), marginals.data() + n);
        for (std::size_t part = 0; part < marginals.size(); ++part) change[part] -= marginals[part];
        return log_z - log_possible;
    }
    void push(std::int64_t i, const double* change, double* w) { problem.push(i, change, w); }
};

// −log P(Y_i | x_i) of the chosen examples, where Y_i are the outputs that `possible` has; gradients as above.
template <class Problem>
void set_log_losses(const Problem& problem, const Problem& possible, std::span<const double> w,
                    std::span<const std::int64_t> examples, std::span<double> losses,
                    std::optional<std::span<const double>> weight, std::optional<std::span<double>> gradient,
                    int n_threads) {
    SeveralTruths<Problem> prepared{problem, possible, {}};
    prepared.problem.prepare(w.data());
    prepared.possible.prepare(w.data());
    add_log_losses(prepared, examples, losses, weight, gradient, n_threads);
}

// PartAscent::mix for examples that threads share, see batch/lagged.hpp. `ratios` are what `carry` has found of each.
template <class Problem>
class Mixing {
public:
    using Step = typename PartAscent<Problem>::Mixture;

    Mixing(const Problem& problem, std::span<const std::int64_t> at, std::span<const double> u, std::span<double> marginals,
           std::span<double> entropies, std::span<double> ratios)
        : ascent_{problem}, at_(at), u_(u), marginals_(marginals), entropies_(entropies), ratios_(ratios) {}

    void find(std::int64_t i, const double* w, Step& step) {
        ascent_.mix(i, u_[i], marginals_.data() + at_[i], entropies_[i], ratios_[i], w, step);
    }
    void carry(std::int64_t i, const Step& step, double* w, bool own) {
        const auto [part, ratio] = ascent_.carry(i, step, w);
        if (!own || part == 0.0) return;
        add_scaled(std::ssize(step.change), -part / u_[i], step.change.data(), marginals_.data() + at_[i]);
        entropies_[i] += part / u_[i] * step.entropy;
        ratios_[i] = ratio;
    }

private:
    PartAscent<Problem> ascent_;
    std::span<const std::int64_t> at_;
    std::span<const double> u_;
    std::span<double> marginals_, entropies_, ratios_;
};

// The same for the examples in the order given, all of which differ; `at` says where the parts of each example begin.
template <class Problem>
void mix(const Problem& problem, std::span<const std::int64_t> order, std::span<const std::int64_t> at,
         std::span<const double> u, std::span<double> marginals, std::span<double> entropies, std::span<double> ratios,
         std::span<double> w, std::span<double> copies, std::int64_t lag) {
    const Mixing<Problem> mixing(problem, at, u, marginals, entropies, ratios);
    take_lagged_steps(order, w, copies, lag, mixing);
}

// PartAscent::exponentiate, likewise.
template <class Problem>
void exponentiate(const Problem& problem, std::span<const std::int64_t> order, std::span<const std::int64_t> at,
                  std::span<const double> u, double kappa, std::optional<std::span<const double>> losses,
                  std::span<double> theta, std::span<double> marginals, std::span<double> entropies,
                  std::span<double> steps, std::span<double> w) {
    PartAscent<Problem> ascent{problem};
    for (const std::int64_t i : order)
        ascent.exponentiate(i, u[i], kappa, losses ? losses->data() + at[i] : nullptr, theta.data() + at[i],
                            marginals.data() + at[i], entropies[i], steps[i], w.data());
}

}  // namespace structlearn
