#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "batch/ragged.hpp"
#include "hypergraph/levels.hpp"
#include "parts/losses.hpp"

namespace structlearn {

// Where the codes of one output an example lie, such as those of the truths.
struct CodedOutputs {
    std::span<const std::int32_t> flat;
    Ragged at;

    const std::int32_t* operator[](std::int64_t i) const { return flat.data() + at.begin(i); }
    std::span<const std::int32_t> of(std::int64_t i) const { return at.of(flat, i); }
};

// A scorer and a structure together, and what one thread needs to work with them. θ of one example exists in its memory.
//
// A `Structure` answers for one example i, given the scores of its local parts; those of the shared parts are handed to
// `prepare` before. It has
//
//     best(i, local, codes)               appends the best output and returns its score
//     score(i, local, codes)              of an output, added up as the decoder does
//     sums(i, local, of_local, of_shared) log Z, and the marginals of the parts unless these are null
//     sample(i, local, uniform, codes)    after `sums`: an output drawn with probability exp F(y)/Z
//     each_part(i, codes, visit)          visit(part) for the parts of an output, local ones first counted
//     each_move(i, codes, other, visit)   visit(plus, minus) for the difference of two outputs, see scorers.hpp
//     k_best(i, local, k, found, scores)  appends up to k outputs, best first
//     levels(i, local, counting)          the best score of every level, −∞ where there is none, and after it
//     trace_level(i, local, counting, level, codes)
//
// Not all can sum, or find levels; what needs these is then not there, see bindings/composed.hpp.
template <class Structure_, class Scorer_>
class Composed {
public:
    using Structure = Structure_;
    using Scorer = Scorer_;

    Composed(const Structure& structure, const Scorer& scorer) : structure(structure), scorer(scorer) {}

    std::int64_t n_local(std::int64_t i) const { return scorer.n_local(i); }
    std::int64_t size(std::int64_t i) const { return n_local(i) + scorer.n_shared(); }

    // Makes w the weights of what follows; they must stay as they are.
    void prepare(const double* w) {
        w_ = w;
        auto shared = std::make_shared<std::vector<double>>(static_cast<std::size_t>(scorer.n_shared()));
        scorer.shared(w, shared->data());
        shared_ = shared;
        structure.prepare(shared->data());
    }

    // After `prepare`: the scores of the local parts, until the next call.
    double* local(std::int64_t i) {
        local_.resize(static_cast<std::size_t>(n_local(i)));
        scorer.local(i, w_, local_.data());
        return local_.data();
    }

    // After `prepare`: argmax F and its score.
    double best(std::int64_t i, Codes& codes) {
        return with_local(i, [&](const auto&... theta) { return structure.best(i, theta..., codes); });
    }

    // argmax F + ℓ; changes the local scores.
    double augmented(std::int64_t i, double* local, const PartLoss& loss, Codes& codes) {
        if constexpr (requires { structure.augmented(i, local, loss, codes); }) {
            return structure.augmented(i, local, loss, codes);
        } else {
            loss.add(i, local);
            return structure.best(i, local, codes);
        }
    }

    // Δ(y_i, ŷ), given y_i or null.
    double loss(std::int64_t i, const std::int32_t* truth, const std::int32_t* codes, const PartLoss& loss) const {
        if constexpr (requires { structure.each_priced_part(i, codes, false, [](std::int64_t) {}); }) {
            return this->loss(i, codes, loss);
        } else {
            if (!truth) return this->loss(i, codes, loss);
            const std::int64_t n = n_local(i);
            double sum = 0.0;
            structure.each_move(i, truth, codes, [&](std::int64_t plus, std::int64_t minus) {
                if (plus >= 0 && plus < n) sum -= loss.at(i, plus);
                if (minus >= 0 && minus < n) sum += loss.at(i, minus);
            });
            return sum;
        }
    }
    double loss(std::int64_t i, const std::int32_t* codes, const PartLoss& loss) const {
        double sum = 0.0;
        each_priced_part(i, codes, loss.of_spans(), [&](std::int64_t part) { sum += loss.at(i, part); });
        return sum - loss.truth(i);
    }

    // The level of an output.
    std::int64_t level(std::int64_t i, const std::int32_t* codes, const PartSteps& counted) const {
        std::int64_t sum = 0;
        each_priced_part(i, codes, counted.of_spans(), [&](std::int64_t part) { sum += counted.at(i, part); });
        return sum;
    }
    // The steps that decoders of levels take, until the next call.
    Counting counting(std::int64_t i, const PartSteps& counted) {
        if constexpr (requires { structure.write_steps(i, counted, steps_); }) {
            structure.write_steps(i, counted, steps_);
        } else {
            steps_.assign(static_cast<std::size_t>(n_local(i)), 0);
            counted.write(i, steps_.data());
        }
        return {steps_.data(), counted.n_levels(i), counted.width(i)};
    }

    // θ = A w, and log Z with the marginals under P(y) ∝ exp⟨θ, μ(y)⟩ for any θ: local parts, then the shared ones.
    void scores(std::int64_t i, const double* w, double* theta) {
        scorer.local(i, w, theta);
        scorer.shared(w, theta + n_local(i));
    }
    double sums(std::int64_t i, const double* theta, double* marginals) {
        structure.prepare(theta + n_local(i));
        return structure.sums(i, theta, marginals, marginals + n_local(i));
    }

    // Calls visit(index, value) for the entries of Ψ(x_i, y) − Ψ(x_i, ŷ); an index may come more than once.
    template <class Visit>
    void difference(std::int64_t i, const std::int32_t* truth, const std::int32_t* other, Visit&& visit) const {
        if constexpr (requires { scorer.difference(i, truth, other, visit); })
            scorer.difference(i, truth, other, visit);
        else
            structure.each_move(i, truth, other, [&](std::int64_t plus, std::int64_t minus) {
                if (plus >= 0) scorer.features(i, plus, 1.0, visit);
                if (minus >= 0) scorer.features(i, minus, -1.0, visit);
            });
    }

    // w += Aᵀ change; returns by how much ‖w‖² grows.
    double push(std::int64_t i, const double* change, double* w) { return scorer.push(i, change, w); }

    // marginals −= coefficient × the parts of an output.
    void subtract(std::int64_t i, const std::int32_t* codes, double coefficient, double* marginals) const {
        structure.each_part(i, codes, [&](std::int64_t part) { marginals[part] -= coefficient; });
    }

    // After `prepare`: −log P(y | x_i), and unless `change` is null the marginals less the parts of y.
    double log_loss(std::int64_t i, const std::int32_t* codes, double* change) {
        return with_local(i, [&](const auto&... theta) {
            const double log_z = structure.sums(i, theta..., change, change ? change + n_local(i) : nullptr);
            if (change) subtract(i, codes, 1.0, change);
            return log_z - structure.score(i, theta..., codes);
        });
    }

    Structure structure;
    Scorer scorer;
    Codes codes;  // where a thread writes an output

private:
    // use(scores of the local parts), or use(scores, rows) where the scorer knows rows of them that are the same.
    template <class Use>
    double with_local(std::int64_t i, Use&& use) {
        if constexpr (requires { scorer.local_rows(i, w_, local_.data(), rows_); }) {
            local_.resize(static_cast<std::size_t>(n_local(i)));
            if (scorer.local_rows(i, w_, local_.data(), rows_)) return use(local_.data(), rows_);
        }
        return use(local(i));
    }

    // The parts that a loss knows.
    template <class Visit>
    void each_priced_part(std::int64_t i, const std::int32_t* codes, bool spans, Visit&& visit) const {
        if constexpr (requires { structure.each_priced_part(i, codes, spans, visit); }) {
            structure.each_priced_part(i, codes, spans, visit);
        } else {
            const std::int64_t n = n_local(i);
            structure.each_part(i, codes, [&](std::int64_t part) {
                if (part < n) visit(part);
            });
        }
    }

    const double* w_ = nullptr;
    std::shared_ptr<const std::vector<double>> shared_;  // of all threads
    std::vector<double> local_;
    std::vector<const double*> rows_;
    std::vector<std::int32_t> steps_;
};

}  // namespace structlearn
