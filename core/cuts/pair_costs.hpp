#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "graph/factor_graph.hpp"

namespace structlearn {

// What two variables of two labels cost, −θ(a, b); infinite where forbidden.
struct PairCosts {
    std::array<std::array<double, 2>, 2> at;

    // How much disagreement costs more than agreement: a cut can pay it where this is not negative.
    double curvature() const { return at[0][1] + at[1][0] - at[0][0] - at[1][1]; }
    // A curvature that is no more than the rounding of its four terms.
    double rounding() const {
        return 1e-12 * (std::abs(at[0][0]) + std::abs(at[0][1]) + std::abs(at[1][0]) + std::abs(at[1][1]));
    }
    // With curvature w, costs are at[0][0] + first [a = 1] + second [b = 1] + w/2 ([a = 0, b = 1] + [a = 1, b = 0]).
    double first() const { return at[1][0] - at[0][0] - 0.5 * curvature(); }
    double second() const { return at[1][1] - at[1][0] + 0.5 * curvature(); }
};

inline PairCosts pair_costs(const FactorGraph& graph, std::size_t f) {
    PairCosts costs;
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) costs.at[a][b] = -graph.pair_score(f, a, b);
    return costs;
}

// What is forbidden to a pair, apart from its finite costs: labels of one variable alone, and joint labels.
struct ForbiddenPairs {
    std::array<bool, 2> first{};
    std::array<bool, 2> second{};
    std::array<std::array<bool, 2>, 2> joint{};

    bool any() const { return joint[0][0] || joint[0][1] || joint[1][0] || joint[1][1]; }

    // Takes the infinite costs out and puts finite ones in their place, which nobody ever pays: the curvature becomes 0.
    static ForbiddenPairs taken_from(PairCosts& costs) {
        ForbiddenPairs found;
        for (int a = 0; a < 2; ++a)
            for (int b = 0; b < 2; ++b) found.joint[a][b] = std::isinf(costs.at[a][b]);
        if (!found.any()) return found;
        auto& joint = found.joint;
        for (int a = 0; a < 2; ++a) {
            found.first[a] = joint[a][0] && joint[a][1];
            found.second[a] = joint[0][a] && joint[1][a];
        }
        found.complete(costs);
        for (int a = 0; a < 2; ++a)
            for (int b = 0; b < 2; ++b) joint[a][b] = joint[a][b] && !found.first[a] && !found.second[b];
        return found;
    }

private:
    // From neighbours in the table where there are any, and so that both diagonals have the same sum otherwise.
    void complete(PairCosts& costs) const {
        const PairCosts given = costs;
        for (int a = 0; a < 2; ++a)
            for (int b = 0; b < 2; ++b) {
                if (!joint[a][b]) continue;
                const bool beside = !joint[a][1 - b], below = !joint[1 - a][b], across = !joint[1 - a][1 - b];
                const double row = given.at[a][1 - b], column = given.at[1 - a][b], diagonal = given.at[1 - a][1 - b];
                if (beside && below)
                    costs.at[a][b] = across ? row + column - diagonal : 0.5 * (row + column);
                else
                    costs.at[a][b] = beside ? row : below ? column : across ? diagonal : 0.0;
            }
    }
};

}  // namespace structlearn
