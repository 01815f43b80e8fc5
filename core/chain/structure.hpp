#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "batch/ragged.hpp"
#include "chain/graph.hpp"
#include "chain/levels.hpp"
#include "chain/second_order.hpp"
#include "chain/second_order_sums.hpp"
#include "chain/sums.hpp"
#include "chain/viterbi.hpp"
#include "hypergraph/k_best.hpp"
#include "hypergraph/levels.hpp"
#include "hypergraph/sampling.hpp"
#include "parts/composed.hpp"

namespace structlearn {

// Which label sequences there are, and their parts. Local: one for every label at every token, (length, n_labels), then, with
// `pairs`, for the labels of every pair of neighbours, (length − 1, n_labels, n_labels). Shared: for every transition,
// (n_labels, n_labels), with `boundaries` for the first and the last label, and in second-order chains for every triplet. What
// is not allowed has −∞ instead of its score.
struct ChainShape {
    Ragged tokens;
    std::int64_t n_labels;
    bool boundaries;
    bool pairs;
    const std::uint8_t* allowed_labels = nullptr;       // (n_tokens, n_labels), null if all are
    const std::uint8_t* allowed_transitions = nullptr;  // (n_labels, n_labels), then start and stop, null if all are

    std::int64_t length(std::int64_t i) const { return tokens.size(i); }
    std::int64_t n_local(std::int64_t i) const {
        const std::int64_t T = length(i), L = n_labels;
        return T * L + (pairs && T > 0 ? (T - 1) * L * L : 0);
    }
    std::int64_t n_shared() const { return n_labels * n_labels + (boundaries ? 2 * n_labels : 0); }
    std::int64_t n_pairs(std::int64_t i) const { return std::max<std::int64_t>(length(i) - 1, 0) * n_labels * n_labels; }
};

// The scores of a sequence, from those of its parts.
class ChainReader {
public:
    explicit ChainReader(const ChainShape& shape) : shape_(shape) {}

    const ChainShape& shape() const { return shape_; }

    // The shared scores of what follows; they must stay as they are.
    void prepare(const double* shared) {
        const std::int64_t L = shape_.n_labels;
        shared_ = shared;
        own_.clear();
        if (shape_.boundaries && !shape_.allowed_transitions) return;
        own_.assign(static_cast<std::size_t>(L * L + 2 * L), 0.0);
        std::copy_n(shared, shape_.n_shared(), own_.data());
        if (shape_.allowed_transitions) forbid(L * L + 2 * L, shape_.allowed_transitions, own_.data());
    }
    const double* transition() const { return own_.empty() ? shared_ : own_.data(); }

    // They live until the next call.
    ChainScores read(std::int64_t i, const double* local) {
        const std::int64_t L = shape_.n_labels;
        const std::int64_t T = shape_.length(i);
        const double* ends = transition() + L * L;
        const double* emission = local;
        if (shape_.allowed_labels) {
            emission_.assign(local, local + T * L);
            forbid(T * L, shape_.allowed_labels + shape_.tokens.begin(i) * L, emission_.data());
            emission = emission_.data();
        }
        // Where pairs add nothing, one matrix serves them all: sums over it are quicker.
        const bool varying =
            std::any_of(local + T * L, local + shape_.n_local(i), [](double score) { return score != 0.0; });
        if (!varying) return {T, L, emission, transition(), ends, ends + L};
        transition_.assign(local + T * L, local + shape_.n_local(i));
        for (std::int64_t t = 0; t + 1 < T; ++t) add_scaled(L * L, 1.0, transition(), &transition_[t * L * L]);
        return {T, L, emission, transition_.data(), ends, ends + L, true};
    }

private:
    static void forbid(std::int64_t n, const std::uint8_t* allowed, double* scores) {
        for (std::int64_t k = 0; k < n; ++k)
            if (!allowed[k]) scores[k] = minus_infinity;
    }

    ChainShape shape_;
    const double* shared_ = nullptr;
    std::vector<double> own_;  // shared scores with zeros for ends and with their mask, unless they are the given ones
    std::vector<double> emission_, transition_;
};

// Calls visit(part) for the parts of a label sequence, triplets aside.
template <class Visit>
void each_chain_part(const ChainShape& shape, std::int64_t i, const std::int32_t* labels, Visit&& visit) {
    const std::int64_t L = shape.n_labels, T = shape.length(i), shared = shape.n_local(i);
    for (std::int64_t t = 0; t < T; ++t) visit(t * L + labels[t]);
    for (std::int64_t t = 0; t + 1 < T; ++t) {
        const std::int64_t pair = labels[t] * L + labels[t + 1];
        if (shape.pairs) visit(T * L + t * L * L + pair);
        visit(shared + pair);
    }
    if (!shape.boundaries || T == 0) return;
    visit(shared + L * L + labels[0]);
    visit(shared + L * L + L + labels[T - 1]);
}

// Calls visit(plus, minus) for the parts in which two label sequences differ, triplets aside.
template <class Visit>
[[gnu::always_inline]] inline void each_chain_move(const ChainShape& shape, std::int64_t i, const std::int32_t* labels,
                                                   const std::int32_t* other, Visit&& visit) {
    const std::int64_t L = shape.n_labels, T = shape.length(i), shared = shape.n_local(i);
    for (std::int64_t t = 0; t < T; ++t)
        if (labels[t] != other[t]) visit(t * L + labels[t], t * L + other[t]);
    for (std::int64_t t = 0; t + 1 < T; ++t) {
        if (labels[t] == other[t] && labels[t + 1] == other[t + 1]) continue;
        const std::int64_t right = labels[t] * L + labels[t + 1], wrong = other[t] * L + other[t + 1];
        if (shape.pairs) visit(T * L + t * L * L + right, T * L + t * L * L + wrong);
        visit(shared + right, shared + wrong);
    }
    if (!shape.boundaries || T == 0) return;
    const std::int64_t start = shared + L * L, stop = start + L;
    if (labels[0] != other[0]) visit(start + labels[0], start + other[0]);
    if (labels[T - 1] != other[T - 1]) visit(stop + labels[T - 1], stop + other[T - 1]);
}

class ChainStructure {
public:
    explicit ChainStructure(const ChainShape& shape) : reader_(shape) {}

    std::int64_t output_size(std::int64_t i) const { return reader_.shape().length(i); }

    std::int64_t n_local(std::int64_t i) const { return reader_.shape().n_local(i); }
    std::int64_t n_shared() const { return reader_.shape().n_shared(); }

    void prepare(const double* shared) {
        reader_.prepare(shared);
        factored_ = transposed_ = false;
    }

    double best(std::int64_t i, const double* local, Codes& codes) {
        const ChainScores scores = reader_.read(i, local);
        codes.resize(static_cast<std::size_t>(scores.length));
        return scores.length ? best_.run(scores, pruned(scores), codes.data()) : 0.0;
    }
    double score(std::int64_t i, const double* local, const std::int32_t* labels) {
        const ChainScores scores = reader_.read(i, local);
        return scores.length ? scores.of(labels) : 0.0;
    }
    void k_best(std::int64_t i, const double* local, std::int64_t k, std::vector<Codes>& found,
                std::vector<double>& values) {
        const ChainScores scores = reader_.read(i, local);
        PrunedMaxPlus* pruned = this->pruned(scores);
        pruned ? chain_messages(scores, *pruned, message_) : chain_messages(scores, max_, message_);
        BestDerivations(ChainGraph{scores, message_.data()}).run(k, found, values);
    }
    // The best score for every level, −∞ where no sequence is of that level; until the next call.
    const std::vector<double>& levels(std::int64_t i, const double* local, const Counting& counted) {
        const ChainScores scores = reader_.read(i, local);
        return levels_.run(scores, counted);
    }
    void trace_level(std::int64_t i, const double* local, const Counting&, std::int64_t level, Codes& codes) {
        const ChainScores scores = reader_.read(i, local);
        levels_.trace(scores, level, codes);
    }

    double sums(std::int64_t i, const double* local, double* of_local, double* of_shared) {
        const std::int64_t L = reader_.shape().n_labels;
        const ChainScores scores = reader_.read(i, local);
        if (!scores.varying && !factored_) factors_.set(L, scores.transition), factored_ = true;
        const double log_z = scores.length ? sums_.run(scores, scores.varying ? nullptr : &factors_) : 0.0;
        if (of_local) marginals(scores, of_local, of_shared);
        return log_z;
    }
    // P(y_t = k, y_{t+1} = l), (length − 1, n_labels, n_labels).
    std::int64_t n_pairs(std::int64_t i) const { return reader_.shape().n_pairs(i); }
    void pair_sums(std::int64_t i, const double* local, double* pairs) {
        if (n_pairs(i) == 0) return;
        sums(i, local, nullptr, nullptr);
        const ChainScores scores = reader_.read(i, local);
        nodes_.resize(static_cast<std::size_t>(scores.length * scores.n_labels));
        sums_.marginals(scores, nodes_.data(), pairs, true);
    }
    template <class Uniform>
    void sample(std::int64_t i, const double* local, Uniform&& uniform, Codes& codes) {
        const ChainScores scores = reader_.read(i, local);
        codes.resize(static_cast<std::size_t>(scores.length));
        uniform_.resize(codes.size());
        for (double& u : uniform_) u = uniform();
        if (scores.length) sums_.sample(scores, uniform_.data(), codes.data());
    }

    template <class Visit>
    void each_part(std::int64_t i, const std::int32_t* labels, Visit&& visit) const {
        each_chain_part(reader_.shape(), i, labels, visit);
    }
    template <class Visit>
    [[gnu::always_inline]] inline void each_move(std::int64_t i, const std::int32_t* labels, const std::int32_t* other,
                                                 Visit&& visit) const {
        each_chain_move(reader_.shape(), i, labels, other, visit);
    }

private:
    // From here on pruning pays, see docs/decisions/many_labels.md.
    static constexpr std::int64_t many_labels = 100;

    PrunedMaxPlus* pruned(const ChainScores& scores) {
        if (scores.n_labels < many_labels || scores.varying) return nullptr;
        if (!transposed_) pruned_.set(scores.n_labels, scores.transition), transposed_ = true;
        return &pruned_;
    }
    void marginals(const ChainScores& scores, double* of_local, double* of_shared) {
        const std::int64_t L = scores.n_labels, T = scores.length;
        std::fill_n(of_shared, n_shared(), 0.0);
        if (T == 0) return;
        const bool each = reader_.shape().pairs;
        double* edges = each ? of_local + T * L : of_shared;
        sums_.marginals(scores, of_local, edges, each);
        if (each)
            for (std::int64_t t = 0; t + 1 < T; ++t) add_scaled(L * L, 1.0, edges + t * L * L, of_shared);
        if (!reader_.shape().boundaries) return;
        std::copy_n(of_local, L, of_shared + L * L);
        std::copy_n(of_local + (T - 1) * L, L, of_shared + L * L + L);
    }

    ChainReader reader_;
    BestSequence best_;
    ChainLevels levels_;
    ChainSums sums_;
    TransitionFactors factors_;
    PrunedMaxPlus pruned_;
    bool factored_ = false, transposed_ = false;  // whether these two are of the prepared scores
    MaxPlus max_;
    std::vector<double> message_, uniform_, nodes_;
};

class SecondOrderStructure {
public:
    explicit SecondOrderStructure(const ChainShape& shape) : reader_(shape) {}

    std::int64_t output_size(std::int64_t i) const { return reader_.shape().length(i); }

    std::int64_t n_local(std::int64_t i) const { return reader_.shape().n_local(i); }
    std::int64_t n_shared() const { return reader_.shape().n_shared() + n_triplets(); }

    void prepare(const double* shared) {
        reader_.prepare(shared);
        triplet_ = shared + reader_.shape().n_shared();
        factored_ = false;
    }

    double best(std::int64_t i, const double* local, Codes& codes) {
        const SecondOrderScores scores = read(i, local);
        codes.resize(static_cast<std::size_t>(scores.chain.length));
        return codes.empty() ? 0.0 : best_.run(scores, codes.data());
    }
    double score(std::int64_t i, const double* local, const std::int32_t* labels) {
        const SecondOrderScores scores = read(i, local);
        return scores.chain.length ? scores.of(labels) : 0.0;
    }
    void k_best(std::int64_t i, const double* local, std::int64_t k, std::vector<Codes>& found,
                std::vector<double>& values) {
        const SecondOrderScores scores = read(i, local);
        messages_.run(scores, message_);
        BestDerivations(SecondOrderGraph{scores, message_.data()}).run(k, found, values);
    }
    const std::vector<double>& levels(std::int64_t i, const double* local, const Counting& counted) {
        const SecondOrderScores scores = read(i, local);
        return levels_.run(SecondOrderGraph{scores, nullptr, counted.steps}, counted);
    }
    void trace_level(std::int64_t i, const double* local, const Counting& counted, std::int64_t level, Codes& codes) {
        const SecondOrderScores scores = read(i, local);
        levels_.trace(SecondOrderGraph{scores, nullptr, counted.steps}, level, codes);
    }

    double sums(std::int64_t i, const double* local, double* of_local, double* of_shared) {
        const SecondOrderScores scores = read(i, local);
        if (!factored_) factors_.set(scores.chain.n_labels, triplet_), factored_ = true;
        const double log_z = scores.chain.length ? sums_.run(scores, factors_) : 0.0;
        if (of_local) marginals(scores, of_local, of_shared);
        return log_z;
    }
    // P(y_t = k, y_{t+1} = l), (length − 1, n_labels, n_labels).
    std::int64_t n_pairs(std::int64_t i) const { return reader_.shape().n_pairs(i); }
    void pair_sums(std::int64_t i, const double* local, double* pairs) {
        if (n_pairs(i) == 0) return;
        sums(i, local, nullptr, nullptr);
        const SecondOrderScores scores = read(i, local);
        nodes_.resize(static_cast<std::size_t>(scores.chain.length * scores.chain.n_labels));
        triplets_.resize(static_cast<std::size_t>(n_triplets()));
        sums_.marginals(scores, factors_, nodes_.data(), pairs, true, triplets_.data());
    }
    template <class Uniform>
    void sample(std::int64_t i, const double* local, Uniform&& uniform, Codes& codes) {
        const SecondOrderScores scores = read(i, local);
        draw_derivation(SecondOrderGraph{scores, sums_.message().data()}, uniform, codes);
    }

    template <class Visit>
    void each_part(std::int64_t i, const std::int32_t* labels, Visit&& visit) const {
        const ChainShape& shape = reader_.shape();
        each_chain_part(shape, i, labels, visit);
        const std::int64_t at = shape.n_local(i) + shape.n_shared();
        for (std::int64_t t = 1; t + 1 < shape.length(i); ++t) visit(at + triplet(labels + t));
    }
    template <class Visit>
    void each_move(std::int64_t i, const std::int32_t* labels, const std::int32_t* other, Visit&& visit) const {
        const ChainShape& shape = reader_.shape();
        each_chain_move(shape, i, labels, other, visit);
        const std::int64_t at = shape.n_local(i) + shape.n_shared();
        for (std::int64_t t = 1; t + 1 < shape.length(i); ++t) {
            const std::int64_t right = triplet(labels + t), wrong = triplet(other + t);
            if (right != wrong) visit(at + right, at + wrong);
        }
    }

private:
    SecondOrderScores read(std::int64_t i, const double* local) { return {reader_.read(i, local), triplet_}; }
    std::int64_t n_triplets() const {
        const std::int64_t L = reader_.shape().n_labels;
        return L * L * L;
    }
    std::int64_t triplet(const std::int32_t* middle) const {
        const std::int64_t L = reader_.shape().n_labels;
        return (middle[0] * L + middle[-1]) * L + middle[1];
    }
    void marginals(const SecondOrderScores& scores, double* of_local, double* of_shared) {
        const std::int64_t L = scores.chain.n_labels, T = scores.chain.length;
        std::fill_n(of_shared, n_shared(), 0.0);
        if (T == 0) return;
        const bool each = reader_.shape().pairs;
        double* edges = each ? of_local + T * L : of_shared;
        double* triplets = of_shared + reader_.shape().n_shared();
        sums_.marginals(scores, factors_, of_local, edges, each, triplets);
        if (each)
            for (std::int64_t t = 0; t + 1 < T; ++t) add_scaled(L * L, 1.0, edges + t * L * L, of_shared);
        if (!reader_.shape().boundaries) return;
        std::copy_n(of_local, L, triplets - 2 * L);
        std::copy_n(of_local + (T - 1) * L, L, triplets - L);
    }

    ChainReader reader_;
    const double* triplet_ = nullptr;
    BestOfSecondOrder best_;
    PairMessages<MaxPlus> messages_;
    BestPerLevel levels_;
    SecondOrderSums sums_;
    TripletFactors factors_;
    bool factored_ = false;
    std::vector<double> message_, nodes_, triplets_;
};

}  // namespace structlearn
