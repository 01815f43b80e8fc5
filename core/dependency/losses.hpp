#pragma once

#include <cstdint>

#include "dependency/shape.hpp"
#include "parts/losses.hpp"

namespace structlearn {

// What is true of every token, (n_tokens, 2): its head and its label; −1 where anything is right, −2 for a label that is never
// predicted.
struct TrueArcs {
    DependencyShape shape;
    const std::int32_t* known;

    // What costs: 0 nothing, 1 a wrong label, 2 a wrong head.
    int wrong(std::int64_t i, std::int64_t head, std::int64_t modifier, std::int64_t label) const {
        const std::int32_t* truth = known + 2 * (shape.tokens.begin(i) + modifier - 1);
        if (truth[0] != -1 && truth[0] != head) return 2;
        return truth[1] != -1 && truth[1] != label;
    }
    int wrong(std::int64_t i, std::int64_t part) const {
        const std::int64_t N = shape.length(i) + 1, arc = part / shape.n_labels;
        if (arc >= N * N || arc % N == 0) return 0;
        return wrong(i, arc / N, arc % N, part % shape.n_labels);
    }
    // Calls visit(part, wrong) for all parts of arcs.
    template <class Visit>
    void each(std::int64_t i, Visit&& visit) const {
        const std::int64_t n = shape.length(i), L = shape.n_labels;
        for (std::int64_t head = 0; head <= n; ++head)
            for (std::int64_t modifier = 1; modifier <= n; ++modifier)
                for (std::int64_t label = 0; label < L; ++label)
                    visit(shape.arc(i, head, modifier) + label, wrong(i, head, modifier, label));
    }
};

// What tokens with wrong heads cost, and those with the right head and a wrong label.
class WrongArcs : public PartLoss {
public:
    WrongArcs(const TrueArcs& truth, double head, double label) : truth_(truth), costs_{0.0, label, head} {}

    void add(std::int64_t i, double* local) const override {
        truth_.each(i, [&](std::int64_t part, int wrong) { local[part] += costs_[wrong]; });
    }
    double at(std::int64_t i, std::int64_t part) const override { return costs_[truth_.wrong(i, part)]; }
    double truth(std::int64_t) const override { return 0.0; }

private:
    TrueArcs truth_;
    double costs_[3];
};

// The same in whole units.
class WrongArcSteps : public PartSteps {
public:
    WrongArcSteps(const TrueArcs& truth, std::int32_t head, std::int32_t label) : truth_(truth), units_{0, label, head} {}

    std::int64_t n_levels(std::int64_t i) const override {
        return 1 + truth_.shape.length(i) * std::max(units_[1], units_[2]);
    }
    void write(std::int64_t i, std::int32_t* steps) const override {
        truth_.each(i, [&](std::int64_t part, int wrong) { steps[part] = units_[wrong]; });
    }
    std::int32_t at(std::int64_t i, std::int64_t part) const override { return units_[truth_.wrong(i, part)]; }

private:
    TrueArcs truth_;
    std::int32_t units_[3];
};

}  // namespace structlearn
