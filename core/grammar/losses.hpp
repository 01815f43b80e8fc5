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

// The number of known phrases that a tree lacks, −1 for each labelled one that it has, and of its phrases that cross a known one
// without label: that a span has no phrase at all is nothing that parts show.
class MissedPhrases : public PartLoss {
public:
    explicit MissedPhrases(const GrammarShape& shape) : shape_(shape) {}

    void add(std::int64_t i, double* local) const override {
        each(i, [&](std::int64_t part, bool found) { local[part] += found ? -1.0 : 1.0; });
    }
    double at(std::int64_t i, std::int64_t part) const override {
        const std::int64_t L = shape_.rules->n_labels, n = shape_.length(i) + 1, cell = part / L;
        double sum = 0.0;
        for (const KnownPhrase& phrase : shape_.known_of(i)) {
            if (phrase.label == -1) sum += phrase.crosses(cell / n, cell % n);
            else if (phrase.label >= 0 && shape_.span_at(i, phrase.begin, phrase.end) + phrase.label == part) sum -= 1.0;
        }
        return sum;
    }
    double truth(std::int64_t i) const override { return -static_cast<double>(count(i)); }

    // Known phrases with labels, those included that the grammar does not know, −2.
    std::int64_t count(std::int64_t i) const {
        return std::ranges::count_if(shape_.known_of(i), [](const KnownPhrase& phrase) { return phrase.label != -1; });
    }
    // visit(part, found) for every part that is a known phrase, and for each that crosses one without label.
    template <class Visit>
    void each(std::int64_t i, Visit&& visit) const {
        for (const KnownPhrase& phrase : shape_.known_of(i)) {
            if (phrase.label >= 0) {
                visit(shape_.span_at(i, phrase.begin, phrase.end) + phrase.label, true);
                continue;
            }
            if (phrase.label < -1) continue;
            for (std::int64_t begin = 0; begin < shape_.length(i); ++begin)
                for (std::int64_t end = begin + 2; end <= shape_.length(i); ++end)
                    for (std::int32_t label = 0; phrase.crosses(begin, end) && label < shape_.rules->n_labels; ++label)
                        visit(shape_.span_at(i, begin, end) + label, false);
        }
    }

private:
    GrammarShape shape_;
};

// The same as steps: known phrases that the tree has, and phrases that cross, fewer than the width.
class MissedPhraseSteps : public PartSteps {
public:
    MissedPhraseSteps(const GrammarShape& shape, std::span<const std::int64_t> widths) : missed_(shape), widths_(widths) {}

    std::int64_t n_levels(std::int64_t i) const override { return (missed_.count(i) + 1) * widths_[i]; }
    std::int64_t width(std::int64_t i) const override { return widths_[i]; }
    void write(std::int64_t i, std::int32_t* steps) const override {
        missed_.each(i, [&](std::int64_t part, bool found) { steps[part] += found ? one(i) : 1; });
    }
    std::int32_t at(std::int64_t i, std::int64_t part) const override {
        const auto found = static_cast<std::int32_t>(missed_.at(i, part));
        return found < 0 ? one(i) : found;
    }

private:
    std::int32_t one(std::int64_t i) const { return static_cast<std::int32_t>(widths_[i]); }

    MissedPhrases missed_;
    std::span<const std::int64_t> widths_;
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
