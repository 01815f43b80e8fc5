#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "dependency/shape.hpp"
#include "parts/losses.hpp"

namespace structlearn {

// What is true of every token, (n_tokens, 2): its head and its label; −1 where anything is right, −2 for a label that is never
// predicted.
struct TrueArcs {
    DependencyShape shape;
    const std::int32_t* known;

    // What costs: 0 nothing, 1 a wrong label, 2 a wrong head.
    int wrong(std::int64_t i, std::int64_t part) const {
        const std::int64_t N = shape.length(i) + 1, arc = part / shape.n_labels;
        if (arc >= N * N || arc % N == 0) return 0;
        const std::int32_t* truth = known + 2 * (shape.tokens.begin(i) + arc % N - 1);
        if (truth[0] != -1 && truth[0] != arc / N) return 2;
        return truth[1] != -1 && truth[1] != part % shape.n_labels;
    }
    // Calls add(first part, number of parts, wrong) for all parts of arcs that cost something.
    template <class Add>
    void each(std::int64_t i, Add&& add) const {
        const std::int64_t n = shape.length(i), L = shape.n_labels;
        const std::int32_t* truth = known + 2 * shape.tokens.begin(i);
        for (std::int64_t head = 0; head <= n; ++head)
            for (std::int64_t modifier = 1; modifier <= n; ++modifier) {
                const std::int64_t arc = shape.arc(i, head, modifier);
                const auto [true_head, label] = std::pair(truth[2 * modifier - 2], truth[2 * modifier - 1]);
                if (true_head != -1 && true_head != head) {
                    add(arc, L, 2);
                } else if (label != -1) {
                    const std::int64_t before = label < 0 ? L : label;
                    add(arc, before, 1);
                    if (before < L) add(arc + before + 1, L - before - 1, 1);
                }
            }
    }
};

// What tokens with wrong heads cost, and those with the right head and a wrong label.
class WrongArcs : public PartLoss {
public:
    WrongArcs(const TrueArcs& truth, double head, double label) : truth_(truth), costs_{0.0, label, head} {}

    void add(std::int64_t i, double* local) const override {
        truth_.each(i, [&](std::int64_t part, std::int64_t count, int wrong) {
            for (std::int64_t k = part; k < part + count; ++k) local[k] += costs_[wrong];
        });
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
        truth_.each(i, [&](std::int64_t part, std::int64_t count, int wrong) { std::fill_n(steps + part, count, units_[wrong]); });
    }
    std::int32_t at(std::int64_t i, std::int64_t part) const override { return units_[truth_.wrong(i, part)]; }

private:
    TrueArcs truth_;
    std::int32_t units_[3];
};

}  // namespace structlearn
