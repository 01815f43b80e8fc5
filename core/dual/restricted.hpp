#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "dual/cuts.hpp"
#include "dual/face.hpp"
#include "dual/idle_planes.hpp"
#include "dual/order.hpp"

namespace structlearn {

// How far a solve got.
struct SolveReport {
    double gap;      // primal − dual on the working sets: exact if it is small enough, else as last seen
    bool unbounded;  // the dual has no maximum: no w meets the constraints of a hard margin
    std::int64_t cuts_from;  // see solve
};

// Without a budget all of α may be scaled by the t that maximises the dual; on data that cannot be separated this
// lets the dual of the hard margin grow by factors instead of by steps. False if it grows without end.
template <class Sets>
bool stretch(Sets& sets, double* w) {
    double linear = 0.0;
    double quadratic = sets.squared_norm(w);
    for (std::int64_t i = 0; i < sets.n_blocks(); ++i) {
        const DualBlock& dual = sets.dual(i);
        linear += std::inner_product(dual.alpha().begin(), dual.alpha().end(), dual.b().begin(), 0.0);
        quadratic += dual.r * dual.sigma() * dual.sigma();
    }
    if (!(linear > 0.0)) return true;
    if (!(quadratic > 0.0)) return quadratic != 0.0;
    const double t = linear / quadratic;
    for (std::int64_t i = 0; i < sets.n_blocks(); ++i)
        for (double& alpha : sets.dual(i).alpha()) alpha *= t;
    for (std::int64_t k = 0; k < sets.n_weights(); ++k) w[k] *= t;
    sets.nonnegative().scale(t);
    return true;
}

// primal − dual over the planes of the working sets, at w.
template <class Sets>
double restricted_gap(Sets& sets, const double* w, double dual, bool hard) {
    double gap = 0.0;
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < sets.n_blocks(); ++i) {
        largest = std::max(largest, sets.look(i, w));
        gap += sets.seen(i);
    }
    if (!hard) return gap;
    // The primal of a hard margin is that of w/γ, γ the smallest margin; without a margin there is none yet.
    const double margin = 1.0 - largest;
    if (margin <= 0.0) return std::numeric_limits<double>::infinity();
    return 0.5 * sets.squared_norm(w) / (margin * margin) - dual;
}

// Maximises the dual over one block as if it were alone; w is not involved.
template <class Sets>
double solve_alone(Sets& sets, std::int64_t i, double relative, std::int64_t max_rounds) {
    sets.complete_products(i);
    const double gap = maximise(sets.dual(i), relative, max_rounds);
    count_idle(sets);
    return gap;
}

// Visits blocks in random order until primal − dual ≤ relative × primal on the restricted problem, or `max_visits` were
// made. Blocks that showed little of the gap are left out until the others show even less.
//
// Where a pass gains next to nothing of the gap, steps on one block undo those on another, and cutting planes are tried: after
// `cuts_from` passes, which becomes a quarter where a pass of theirs gains more than one over the blocks did, else four times as
// many. The report has the new number, for the next time.
template <class Sets>
SolveReport solve(Sets& sets, double* w, double relative, std::int64_t max_visits, std::uint64_t seed,
                  std::int64_t cuts_from) {
    std::mt19937_64 random(seed);
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < sets.n_blocks(); ++i)
        if (sets.n_planes(i) > 0) all.push_back(i);
    if (all.empty()) return {0.0, false, cuts_from};
    const bool bounded = std::isfinite(sets.dual(0).u);
    const bool hard = !bounded && sets.dual(0).r == 0.0;
    Nonnegative& nonnegative = sets.nonnegative();
    if (all.size() == 1 && !hard && nonnegative.empty()) {
        const auto alpha = sets.dual(all[0]).alpha();
        std::vector<double> change(alpha.begin(), alpha.end());
        const double gap = solve_alone(sets, all[0], relative, max_visits);
        for (std::size_t k = 0; k < change.size(); ++k) change[k] = alpha[k] - change[k];
        sets.add_rows(all[0], change.data(), w);
        return {gap, false, cuts_from};
    }
    const auto n_all = static_cast<std::int64_t>(all.size());
    std::vector<std::int64_t> order = all;
    auto dual_value = [&] { return sets.linear_part() - 0.5 * sets.squared_norm(w); };
    double dual = dual_value();
    double gap = 0.0;
    std::int64_t next_face = 16;
    // A cut says something of every block and has a row over all weights: with more weights than blocks it costs more than it says.
    const bool cuttable = !hard && nonnegative.empty() && sets.n_weights() <= sets.n_blocks();
    std::int64_t next_cuts = cuttable ? cuts_from : std::numeric_limits<std::int64_t>::max();
    std::int64_t visits = 0;
    while (visits < max_visits) {
        shuffle_runs(order, random);
        const double earlier = dual;
        for (const std::int64_t i : order)
            if (!sets.visit(i, w, &dual)) return {std::numeric_limits<double>::infinity(), true, cuts_from};
        visits += static_cast<std::int64_t>(order.size());
        dual += nonnegative.clip(w);
        if (!bounded) {
            if (!stretch(sets, w)) return {std::numeric_limits<double>::infinity(), true, cuts_from};
            dual = dual_value();
        }
        double visited = 0.0;
        for (const std::int64_t i : order) visited += sets.seen(i);
        gap = 0.0;
        for (const std::int64_t i : all) gap += sets.seen(i);
        bool everything = hard || visited < gap - visited;
        const std::int64_t passes = visits / n_all;
        const double gain = dual - earlier;
        if (passes >= next_cuts && gain < 0.01 * gap && gap > relative * (dual + gap)) {
            const std::int64_t spent = CutAscent<Sets>(sets, w).run(relative, gain);
            const double after = dual_value();
            const bool worth_it = after - dual > static_cast<double>(spent) * gain;
            cuts_from = worth_it ? std::max<std::int64_t>(cuts_from / 4, 1) : std::min<std::int64_t>(4 * cuts_from, 1 << 20);
            next_cuts = std::max(cuts_from, 2 * passes);
            dual = after;
            everything = true;
        } else if (passes >= next_face) {
            // Pairwise steps are at their best at first; where they turn out slow, conjugate gradients help, in rounds that
            // cost about as much as all passes so far.
            const int steps = static_cast<int>(std::min<std::int64_t>(passes, 60));
            for (std::int64_t spent = 0; spent < passes && ascend_on_face(sets, w, steps); spent += steps) {}
            next_face *= 2;
            dual = dual_value();
            everything = true;
        }
        if (hard || gap <= relative * (dual + gap)) {
            dual = dual_value();
            gap = restricted_gap(sets, w, dual, hard);
            if (gap <= relative * (dual + gap)) break;
            everything = true;
        }
        if (everything) {
            order = all;
        } else {
            const double little = 0.25 * gap / static_cast<double>(n_all);
            std::erase_if(order, [&](std::int64_t i) { return sets.seen(i) < little; });
            if (order.empty()) order = all;  // infinite gaps
        }
    }
    count_idle(sets);
    return {gap, false, cuts_from};
}

}  // namespace structlearn
