#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "batch/parallel.hpp"
#include "batch/ragged.hpp"
#include "parts/ascent.hpp"

namespace structlearn {

// What outputs that are sums of parts can do, example by example; chain/parts.hpp shows what `Parts` must have. Values of parts
// are given one example after another.

template <class Parts>
std::vector<std::int64_t> part_offsets(const Parts& parts, std::span<const std::int64_t> examples) {
    return offsets_of(examples, [&](std::int64_t i) { return parts.size(i); });
}

// θ = A w of the chosen examples.
template <class Parts, class Data>
void part_scores(const Data& data, std::span<const double> w, std::span<const std::int64_t> examples,
                 std::span<double> theta, int n_threads) {
    const Parts prototype(data);
    const auto at = part_offsets(prototype, examples);
    for_each_example(examples, n_threads, prototype, [&](std::int64_t k, std::int64_t i, Parts& parts) {
        parts.scores(i, w.data(), theta.data() + at[k]);
    });
}

// log Z and marginals, given the scores of the parts.
template <class Parts, class Data>
void part_sums(const Data& data, std::span<const double> theta, std::span<const std::int64_t> examples,
               std::span<double> log_z, std::span<double> marginals, int n_threads) {
    const Parts prototype(data);
    const auto at = part_offsets(prototype, examples);
    for_each_example(examples, n_threads, prototype, [&](std::int64_t k, std::int64_t i, Parts& parts) {
        log_z[k] = parts.sums(i, theta.data() + at[k], marginals.data() + at[k]);
    });
}

// w += Σ_k coefficients[k] Aᵀ marginals_k
template <class Parts, class Data>
void push(const Data& data, std::span<const double> marginals, std::span<const std::int64_t> examples,
          std::span<const double> coefficients, std::span<double> w) {
    Parts parts(data);
    const auto at = part_offsets(parts, examples);
    std::vector<double> change;
    for (std::size_t k = 0; k < examples.size(); ++k) {
        change.assign(marginals.data() + at[k], marginals.data() + at[k + 1]);
        for (double& value : change) value *= coefficients[k];
        parts.push(examples[k], change.data(), w.data());
    }
}

// The marginals of a labelling: how often it has each part.
template <class Parts, class Data>
void indicators(const Data& data, std::span<const std::int32_t> labels, std::span<const std::int64_t> examples,
                std::span<double> marginals) {
    const Parts parts(data);
    const auto at = part_offsets(parts, examples);
    std::fill_n(marginals.data(), at.back(), 0.0);
    for (std::size_t k = 0; k < examples.size(); ++k)
        parts.subtract(examples[k], labels.data(), -1.0, marginals.data() + at[k]);
}

// −log P(y_i | x_i) of the chosen examples; the gradient, if asked for, grows by Σ_k weight[k] times theirs.
template <class Parts, class Data>
void log_losses(const Data& data, std::span<const double> w, std::span<const std::int64_t> examples,
                std::span<const std::int32_t> labels, std::span<double> losses,
                std::optional<std::span<const double>> weight, std::optional<std::span<double>> gradient, int n_threads) {
    Parts prepared(data);
    prepared.prepare(w.data());
    Workers<Parts> workers(n_threads, prepared);
    // Gradients are added in the order of the examples, so that they do not depend on the number of threads.
    const std::size_t batch = n_threads > 1 ? 64 : 1;
    std::vector<std::vector<double>> changes(batch);
    for (std::size_t begin = 0; begin < examples.size(); begin += batch) {
        const std::size_t count = std::min(batch, examples.size() - begin);
        workers.run(static_cast<std::int64_t>(count), [&](std::int64_t j, Parts& parts) {
            const std::int64_t i = examples[begin + j];
            std::vector<double>& change = changes[j];
            if (gradient) change.resize(static_cast<std::size_t>(prepared.size(i)));
            losses[begin + j] = parts.log_loss(i, labels.data(), gradient ? change.data() : nullptr);
        });
        for (std::size_t j = 0; gradient && j < count; ++j) {
            for (double& value : changes[j]) value *= (*weight)[begin + j];
            workers.first().push(examples[begin + j], changes[j].data(), gradient->data());
        }
    }
}

// Outputs drawn with probability P(y | x): `copies` of each chosen example, one after another.
template <class Parts, class Data>
void samples(const Data& data, std::span<const double> w, std::span<const std::int64_t> examples, std::int64_t copies,
             std::span<const double> uniform, std::span<std::int32_t> out, int n_threads) {
    Parts prepared(data);
    prepared.prepare(w.data());
    const auto at = data.outputs().gathered(examples, copies);
    const auto uniform_at = offsets_of(examples, [&](std::int64_t i) { return copies * prepared.n_uniform(i); });
    for_each_example(examples, n_threads, prepared, [&](std::int64_t k, std::int64_t i, Parts& parts) {
        parts.samples(i, copies, uniform.data() + uniform_at[k], out.data() + at[k]);
    });
}

// PartAscent::mix for the examples in the order given; `at` says where the parts of each example begin.
template <class Parts, class Data>
void mix(const Data& data, std::span<const std::int64_t> order, std::span<const std::int64_t> at,
         std::span<const double> u, std::span<double> marginals, std::span<double> entropies, std::span<double> gaps,
         std::span<double> w) {
    PartAscent<Parts> ascent{Parts(data)};
    for (const std::int64_t i : order)
        gaps[i] = ascent.mix(i, u[i], marginals.data() + at[i], entropies[i], w.data());
}

// PartAscent::exponentiate, likewise.
template <class Parts, class Data>
void exponentiate(const Data& data, std::span<const std::int64_t> order, std::span<const std::int64_t> at,
                  std::span<const double> u, double kappa, std::optional<std::span<const double>> losses,
                  std::span<double> theta, std::span<double> marginals, std::span<double> entropies,
                  std::span<double> steps, std::span<double> w) {
    PartAscent<Parts> ascent{Parts(data)};
    for (const std::int64_t i : order)
        ascent.exponentiate(i, u[i], kappa, losses ? losses->data() + at[i] : nullptr, theta.data() + at[i],
                            marginals.data() + at[i], entropies[i], steps[i], w.data());
}

}  // namespace structlearn
