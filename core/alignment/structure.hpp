#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "alignment/best.hpp"
#include "alignment/data.hpp"
#include "alignment/graph.hpp"
#include "alignment/sums.hpp"
#include "hypergraph/k_best.hpp"
#include "hypergraph/levels.hpp"
#include "hypergraph/sampling.hpp"
#include "linear/vector.hpp"
#include "parts/composed.hpp"

namespace structlearn {

// Alignments of pairs of sequences; an output is one code a letter of s, the place of its partner in t, or −1. All parts are
// local, see AlignmentShape.
class AlignmentStructure {
public:
    explicit AlignmentStructure(const AlignmentShape& shape) : shape_(shape) {}

    std::int64_t output_size(std::int64_t i) const { return shape_.s.size(i); }
    std::int64_t n_local(std::int64_t i) const { return shape_.n_local(i); }
    std::int64_t n_shared() const { return 0; }
    void prepare(const double*) {}

    double best(std::int64_t i, const double* local, Codes& codes) { return best(read(i, local), codes); }
    // The same where the scores of matches are elsewhere, row by row.
    double best(std::int64_t i, const double* local, const std::vector<const double*>& rows, Codes& codes) {
        return best(read(i, local, rows), codes);
    }
    double score(std::int64_t i, const double* local, const std::int32_t* codes) const {
        return score(i, codes, [&](std::int64_t part) { return local[part]; });
    }
    double score(std::int64_t i, const double* local, const std::vector<const double*>& rows, const std::int32_t* codes) const {
        const std::int64_t n = shape_.t.size(i), cells = shape_.s.size(i) * n;
        return score(i, codes, [&](std::int64_t part) { return part < cells ? rows[part / n][part % n] : local[part]; });
    }
    void k_best(std::int64_t i, const double* local, std::int64_t k, std::vector<Codes>& found,
                std::vector<double>& values) {
        const AlignmentScores scores = read(i, local);
        tables_.run(scores);
        BestDerivations(AlignmentGraph{scores, tables_}).run(k, found, values);
    }
    const std::vector<double>& levels(std::int64_t i, const double* local, const Counting& counted) {
        const AlignmentScores scores = read(i, local);
        tables_.run(scores);
        return levels_.run(AlignmentGraph{scores, tables_, counted.steps}, counted);
    }
    void trace_level(std::int64_t i, const double* local, const Counting& counted, std::int64_t level, Codes& codes) {
        const AlignmentScores scores = read(i, local);
        levels_.trace(AlignmentGraph{scores, tables_, counted.steps}, level, codes);
    }

    double sums(std::int64_t i, const double* local, double* of_local, double*) {
        return sums(i, read(i, local), of_local, nullptr);
    }
    double sums(std::int64_t i, const double* local, const std::vector<const double*>& rows, double* of_local, double*) {
        return sums(i, read(i, local, rows), of_local, nullptr);
    }
    // P(letters k and j are partners, and so are the next two), (m − 1, n − 1).
    std::int64_t n_pairs(std::int64_t i) const {
        return std::max<std::int64_t>(shape_.s.size(i) - 1, 0) * std::max<std::int64_t>(shape_.t.size(i) - 1, 0);
    }
    void pair_sums(std::int64_t i, const double* local, double* pairs) { sums(i, read(i, local), nullptr, pairs); }
    template <class Uniform>
    void sample(std::int64_t i, const double* local, Uniform&& uniform, Codes& codes) {
        const AlignmentScores scores = read(i, local);
        draw_derivation(AlignmentGraph{scores, sums_.tables(scores)}, uniform, codes);
    }

    template <class Visit>
    void each_part(std::int64_t i, const std::int32_t* codes, Visit&& visit) const {
        const std::int64_t n = shape_.t.size(i);
        walk(
            shape_.s.size(i), n, shape_.ends, codes, [&](std::int64_t k, std::int64_t j) { visit(k * n + j); },
            [&](bool deletion, std::int64_t letter, std::int64_t border, bool first) {
                for (const bool opening : {false, true}) {
                    if (opening && !first) continue;
                    visit(shape_.gap_at(i, deletion, false, opening) + letter);
                    visit(shape_.gap_at(i, deletion, true, opening) + border);
                }
            });
    }
    template <class Visit>
    void each_move(std::int64_t i, const std::int32_t* codes, const std::int32_t* other, Visit&& visit) const {
        const std::int64_t n = shape_.t.size(i), cells = shape_.s.size(i) * n;
        if (std::equal(codes, codes + shape_.s.size(i), other)) return;
        auto in = [&](const std::int32_t* all, std::int64_t part) { return part < cells && all[part / n] == part % n; };
        each_part(i, codes, [&](std::int64_t part) {
            if (!in(other, part)) visit(part, -1);
        });
        each_part(i, other, [&](std::int64_t part) {
            if (!in(codes, part)) visit(-1, part);
        });
    }

private:
    // Σ score(part) of an output; −∞ if it is not what is known.
    template <class PartScore>
    double score(std::int64_t i, const std::int32_t* codes, PartScore&& score) const {
        const std::int32_t* known = known_of(i);
        for (std::int64_t k = 0; known && k < shape_.s.size(i); ++k)
            if (known[k] >= 0 && codes[k] != known[k]) return minus_infinity;
        double sum = 0.0;
        each_part(i, codes, [&](std::int64_t part) { sum += score(part); });
        return sum;
    }

    double best(const AlignmentScores& scores, Codes& codes) {
        if (scores.known) {
            tables_.run(scores);
            std::vector<Codes> found;
            std::vector<double> values;
            BestDerivations(AlignmentGraph{scores, tables_}).run(1, found, values);
            codes = std::move(found.front());
            return values.front();
        }
        codes.resize(static_cast<std::size_t>(scores.m));
        best_.run(scores);
        best_.trace(codes.data());
        return best_.score();
    }

    // log Z; counts are written where they are asked for.
    double sums(std::int64_t i, const AlignmentScores& scores, double* of_local, double* pairs) {
        counts_.resize(static_cast<std::size_t>(of_local ? 0 : n_local(i)));
        double* counts = of_local ? of_local : counts_.data();
        auto gap = [&](bool deletion) {
            auto at = [&](bool beside, bool first) { return counts + shape_.gap_at(i, deletion, beside, first); };
            return GapCounts{at(false, false), at(true, false), at(false, true), at(true, true)};
        };
        return sums_.run(scores, {counts, gap(true), gap(false), pairs});
    }

    const std::int32_t* known_of(std::int64_t i) const { return shape_.known ? shape_.known + shape_.s.begin(i) : nullptr; }

    // The scores of a pair; they live until the next call.
    AlignmentScores read(std::int64_t i, const double* local) { return restricted(i, read_all(i, local)); }
    AlignmentScores read(std::int64_t i, const double* local, const std::vector<const double*>& rows) {
        AlignmentScores scores = read_all(i, local);
        scores.match = rows.data();
        return restricted(i, scores);
    }

    // The same scores, but for those of matches that cross a known one.
    AlignmentScores restricted(std::int64_t i, AlignmentScores scores) {
        const std::int32_t* known = known_of(i);
        if (!known || std::all_of(known, known + scores.m, [](std::int32_t code) { return code < 0; })) return scores;
        const std::int64_t m = scores.m, n = scores.n;
        scores.known = known;
        possible_.assign(static_cast<std::size_t>(m * n), minus_infinity);
        possible_rows_.resize(static_cast<std::size_t>(m));
        std::int64_t begin = 0, next = 0;  // the place after the last known partner, and the next letter that has one
        for (std::int64_t k = 0; k < m; ++k) {
            while (next < m && known[next] < 0) ++next;
            const bool here = next == k;
            const std::int64_t from = here ? known[k] : begin, to = next == m ? n : known[next] + here;
            if (from < to) std::copy(scores.match[k] + from, scores.match[k] + to, &possible_[k * n + from]);
            possible_rows_[k] = possible_.data() + k * n;
            if (!here) continue;
            begin = known[k] + 1, ++next;
            scores.first_known = std::min(scores.first_known, k), scores.last_known = k;
        }
        scores.match = possible_rows_.data();
        return scores;
    }
    AlignmentScores read_all(std::int64_t i, const double* local) {
        const std::int64_t m = shape_.s.size(i), n = shape_.t.size(i), half = 2 * m + 2 * n + 2;
        rows_.resize(static_cast<std::size_t>(m));
        for (std::int64_t k = 0; k < m; ++k) rows_[k] = local + k * n;
        // First letters of gaps score as all letters do, and more.
        const double* next = local + m * n;
        first_.assign(next, next + half);
        add_scaled(half, 1.0, next + half, first_.data());
        auto gap = [&](bool deletion) {
            const std::int64_t own = shape_.gap_at(i, deletion, false, false) - m * n;
            const std::int64_t beside = shape_.gap_at(i, deletion, true, false) - m * n;
            return GapScores{first_.data() + own, next + own, first_.data() + beside, next + beside};
        };
        return {m, n, rows_.data(), gap(true), gap(false), shape_.ends};
    }

    AlignmentShape shape_;
    BestAlignment best_;
    AlignmentTables<MaxPlus> tables_;
    BestPerLevel levels_;
    AlignmentSums sums_;
    std::vector<const double*> rows_, possible_rows_;
    std::vector<double> first_, counts_, possible_;
};

}  // namespace structlearn
