#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "grammar/structure.hpp"
#include "parts/decoding.hpp"

namespace structlearn {

// The number of spurious brackets and `missed` times that of missed ones: 1 for each phrase that is one, −missed for a true one.
class MissedBrackets : public PartLoss {
public:
    // `gold` has the local parts that are true brackets, none twice; `counts` how many brackets the truths have, with those of
    // labels that the grammar does not know.
    MissedBrackets(const GrammarShape& shape, std::span<const std::int64_t> gold, Ragged brackets,
                   std::span<const std::int64_t> counts, double missed)
        : shape_(shape), gold_(gold), brackets_(brackets), counts_(counts), missed_(missed) {}

    void add(std::int64_t i, double* local) const override {
        const auto L = static_cast<std::size_t>(shape_.rules->n_labels);
        const auto n = static_cast<std::size_t>(shape_.n_local(i));
        for (std::size_t part = 0; part < n; ++part) local[part] += shape_.rules->counts[part % L];
        for (const std::int64_t part : brackets_.of(gold_, i)) local[part] -= 1.0 + missed_;
    }
    double at(std::int64_t i, std::int64_t part) const override {
        if (!shape_.rules->counts[static_cast<std::size_t>(part % shape_.rules->n_labels)]) return 0.0;
        const auto gold = brackets_.of(gold_, i);
        return std::find(gold.begin(), gold.end(), part) != gold.end() ? -missed_ : 1.0;
    }
    double truth(std::int64_t i) const override { return -missed_ * static_cast<double>(counts_[i]); }

    double missed() const { return missed_; }
    std::int64_t count(std::int64_t i) const { return counts_[i]; }
    BracketCells cells(std::int64_t i) const {
        BracketCells cells(static_cast<std::size_t>(shape_.n_local(i)), 0);
        for (const std::int64_t part : brackets_.of(gold_, i)) cells[part] = 1;
        return cells;
    }

private:
    GrammarShape shape_;
    std::span<const std::int64_t> gold_;
    Ragged brackets_;
    std::span<const std::int64_t> counts_;
    double missed_;
};

// The tree of each sentence that violates most by the number of missed and spurious brackets, or by 1 − F_β; the truth where
// none does.
template <class Problem>
RaggedArray<std::int32_t> most_violating_trees(const Problem& problem, std::span<const double> w,
                                               std::span<const std::int64_t> examples,
                                               std::span<const std::int32_t> truths,
                                               std::span<const std::int64_t> truth_offsets,
                                               const MissedBrackets& brackets, bool f1, bool slack, bool squared,
                                               int n_threads) {
    std::vector<Codes> found(examples.size());
    const CodedOutputs truth{truths, truth_offsets};
    for_each_scored(problem, w, examples, n_threads, [&](std::int64_t k, std::int64_t i, Problem& worker) {
        const BracketLoss loss{f1, slack, squared, brackets.missed(), brackets.count(i)};
        worker.structure.most_violating(i, worker.local(i), truth[i], loss, brackets.cells(i), found[k]);
        if (found[k].empty()) found[k].assign(truth.of(i).begin(), truth.of(i).end());
    });
    return RaggedArray(found);
}

}  // namespace structlearn
