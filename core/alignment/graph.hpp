#pragma once

#include <cstdint>

#include "alignment/tables.hpp"
#include "hypergraph/graph.hpp"

namespace structlearn {

// Alignments as derivations, with the cells of the tables for matches, then for deletions, then for insertions as items.
// `steps`, which may be null, has what each match takes, (m, n).
template <Semiring S>
class AlignmentGraph {
public:
    AlignmentGraph(const AlignmentScores& scores, const AlignmentTables<S>& tables, const std::int32_t* steps = nullptr)
        : scores_(scores), tables_(tables), steps_(steps) {}

    std::int64_t goal() const { return 3 * n_cells(); }
    std::int64_t n_items() const { return goal() + 1; }
    double value(std::int64_t item) const {
        const Place place = this->place(item);
        return tables_.cell(place.step, place.i, place.j);
    }

    template <class Visit>
    void each_item(Visit&& visit) const {
        for (std::int64_t i = 0; i <= tables_.m(); ++i)
            for (const Step step : {Step::match, Step::deletion, Step::insertion})
                for (std::int64_t j = 0; j <= tables_.n(); ++j) visit(item(step, i, j));
        visit(goal());
    }
    template <class Visit>
    void each_edge(std::int64_t item, Visit&& visit) const {
        if (item == goal())
            return tables_.each_last([&](Step step, std::int64_t i, std::int64_t j) {
                visit(Edge{.left = this->item(step, i, j)});
            });
        const auto [step, i, j] = place(item);
        // Cells that nothing leads to are not asked for what is before them.
        if (tables_.cell(step, i, j) == minus_infinity) return;
        if (i == 0 && j == 0) return visit(Edge{});
        const bool match = step == Step::match;
        const double more = match ? scores_.match[i - 1][j - 1] : 0.0;
        const std::int32_t taken = match && steps_ ? steps_[(i - 1) * tables_.n() + j - 1] : 0;
        tables_.each_before(scores_, step, i, j, [&](Step before, std::int64_t i_before, std::int64_t j_before, double score) {
            visit(Edge{.score = score, .of_item = more, .left = this->item(before, i_before, j_before), .step = taken});
        });
    }
    void write(std::int64_t item, const Edge&, Codes& codes) const {
        if (item == goal()) return codes.assign(static_cast<std::size_t>(tables_.m()), -1);
        const auto [step, i, j] = place(item);
        if (step == Step::match && i > 0) codes[i - 1] = static_cast<std::int32_t>(j - 1);
    }

private:
    struct Place {
        Step step;
        std::int64_t i, j;
    };

    std::int64_t n_cells() const { return (tables_.m() + 1) * (tables_.n() + 1); }
    // −1 for the start, which is derived from nothing.
    std::int64_t item(Step step, std::int64_t i, std::int64_t j) const {
        return step == Step::start ? -1 : (static_cast<std::int64_t>(step) - 1) * n_cells() + tables_.at(i, j);
    }
    Place place(std::int64_t item) const {
        const std::int64_t cell = item % n_cells(), columns = tables_.n() + 1;
        return {static_cast<Step>(item / n_cells() + 1), cell / columns, cell % columns};
    }

    const AlignmentScores& scores_;
    const AlignmentTables<S>& tables_;
    const std::int32_t* steps_;
};

}  // namespace structlearn
