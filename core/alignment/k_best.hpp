#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "alignment/tables.hpp"

namespace structlearn {

// The k best alignments, written as one code a letter of s: the place of its partner in t, or −1.
class BestAlignments {
public:
    explicit BestAlignments(std::int64_t k) : tables_(KBest(k)) {}

    // Fills the tables; returns how many alignments there are, at most k.
    std::int64_t run(const AlignmentScores& scores) {
        tables_.run(scores);
        found_.clear();
        const auto most = static_cast<std::size_t>(tables_.semiring.width());
        tables_.each_last([&](Step step, std::int64_t i, std::int64_t j) {
            if (found_.size() == most && !(*tables_.cell(step, i, j) > found_.back().score)) return;
            add(step, i, j, 0.0, found_);
            std::stable_sort(found_.begin(), found_.end(), better);
            found_.resize(std::min(found_.size(), most));
        });
        return static_cast<std::int64_t>(found_.size());
    }

    double score(std::int64_t rank) const { return found_[static_cast<std::size_t>(rank)].score; }

    // After `run`: the codes of the alignment of that rank.
    void trace(const AlignmentScores& scores, std::int64_t rank, std::int32_t* codes) {
        std::fill_n(codes, scores.m, -1);
        Place here = found_[static_cast<std::size_t>(rank)];
        while (here.step != Step::start && here.i + here.j > 0) {
            if (here.step == Step::match) codes[here.i - 1] = static_cast<std::int32_t>(here.j - 1);
            before_.clear();
            tables_.each_before(
                scores, here.step, here.i, here.j,
                [&](Step step, std::int64_t i, std::int64_t j, double score) { add(step, i, j, score, before_); });
            // The best of a cell come from the best of the cells before, in the same order.
            std::stable_sort(before_.begin(), before_.end(), better);
            here = before_[static_cast<std::size_t>(here.rank)];
        }
    }

private:
    struct Place {
        double score;
        Step step;
        std::int64_t i, j, rank;
    };
    static bool better(const Place& a, const Place& b) { return a.score > b.score; }

    void add(Step step, std::int64_t i, std::int64_t j, double score, std::vector<Place>& places) const {
        const double* cell = tables_.cell(step, i, j);
        for (std::int64_t rank = 0; rank < tables_.width(step) && cell[rank] > minus_infinity; ++rank)
            places.push_back({cell[rank] + score, step, i, j, rank});
    }

    AlignmentTables<KBest> tables_;
    std::vector<Place> found_, before_;
};

}  // namespace structlearn
