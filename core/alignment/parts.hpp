#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alignment/data.hpp"
#include "alignment/sums.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Alignments as a sum of parts: one for every pair of letters, (m, n), then for the gaps, of all their letters and of those
// with which one begins: deletions by the letter and by the place in t, insertions by the letter and by the place in s.
// θ = A w are the scores of the parts.
class AlignmentParts {
public:
    explicit AlignmentParts(const AlignmentData& data) : data_(data) {}

    void prepare(const double* w) { w_ = w; }

    // −log P(y_i | x_i), and unless `change` is null the marginals less the parts of y_i.
    double log_loss(std::int64_t i, const std::int32_t* codes, double* change) {
        const AlignmentScores read_scores = read(i, scores(i, w_));
        const double log_z = sums_.run(read_scores);
        if (change) {
            std::fill_n(change, size(i), 0.0);
            sums_.marginals(read_scores, counts(i, change));
            subtract(i, codes, 1.0, change);
        }
        double score = 0.0;
        each_part(i, codes, [&](std::int64_t part) { score += theta_[static_cast<std::size_t>(part)]; });
        return log_z - score;
    }

    // Uniform numbers that a sample takes.
    std::int64_t n_uniform(std::int64_t i) const { return data_.s.length(i) + data_.t.length(i) + 1; }
    // After `prepare`: alignments drawn with probability P(y | x_i), one after another.
    void samples(std::int64_t i, std::int64_t copies, const double* uniform, std::int32_t* codes) {
        const AlignmentScores read_scores = read(i, scores(i, w_));
        sums_.run(read_scores);
        for (std::int64_t copy = 0; copy < copies; ++copy)
            sums_.sample(read_scores, uniform + copy * n_uniform(i), codes + copy * read_scores.m);
    }

    std::int64_t size(std::int64_t i) const {
        const std::int64_t m = data_.s.length(i), n = data_.t.length(i);
        return m * n + 2 * (2 * m + 2 * n + 2);
    }

    void scores(std::int64_t i, const double* w, double* theta) { scores(i, w, theta, false); }

    // The same in memory of its own, until the next call.
    double* scores(std::int64_t i, const double* w) {
        theta_.resize(static_cast<std::size_t>(size(i)));
        scores(i, w, theta_.data());
        return theta_.data();
    }

    // The scores of a pair; they live until the next call. Where a match depends on one code of each letter, letters of s with
    // the same code share a row.
    AlignmentScores scores_to_decode(std::int64_t i, const double* w) {
        const bool share = data_.matches.size() == 1 && data_.s.n_dense == 0 && data_.scale[i] == 1.0;
        theta_.resize(static_cast<std::size_t>(size(i)));
        const AlignmentScores found = read(i, theta_.data());
        scores(i, w, theta_.data(), share);
        add_firsts(i, theta_.data());
        return found;
    }

    // The scores of a pair whose parts are given; they live until the next call.
    AlignmentScores read(std::int64_t i, const double* theta) {
        const std::int64_t m = data_.s.length(i), n = data_.t.length(i);
        const double* next = theta + m * n;
        rows_.resize(static_cast<std::size_t>(m));
        for (std::int64_t k = 0; k < m; ++k) rows_[k] = theta + k * n;
        add_firsts(i, theta);
        auto gap = [&](bool deletion) {
            const std::int64_t own = gap_at(i, deletion, false, false) - m * n;
            const std::int64_t beside = gap_at(i, deletion, true, false) - m * n;
            return GapScores{first_.data() + own, next + own, first_.data() + beside, next + beside};
        };
        return {m, n, rows_.data(), gap(true), gap(false), data_.ends};
    }

    double sums(std::int64_t i, const double* theta, double* marginals) {
        const AlignmentScores read_scores = read(i, theta);
        const double log_z = sums_.run(read_scores);
        std::fill_n(marginals, size(i), 0.0);
        sums_.marginals(read_scores, counts(i, marginals));
        return log_z;
    }

    // marginals −= coefficient × the parts of an alignment; codes are those of all pairs.
    void subtract(std::int64_t i, const std::int32_t* codes, double coefficient, double* marginals) const {
        each_part(i, codes, [&](std::int64_t part) { marginals[part] -= coefficient; });
    }

    // w += Aᵀ change; returns by how much ‖w‖² grows.
    double push(std::int64_t i, const double* change, double* w) {
        const std::int64_t m = data_.s.length(i), n = data_.t.length(i);
        const double scale = data_.scale[i];
        double growth = 0.0;
        auto add = [&](double& weight, double value) {
            growth += value * (2.0 * weight + value);
            weight += value;
        };
        each_group(i, [&](std::span<const MatchChannel> channels, std::span<const std::int64_t> letters) {
            const std::int64_t code = data_.s.code(channels[0].s_stream, i)[letters[0]];
            row_.assign(static_cast<std::size_t>(n), 0.0);
            for (std::int64_t letter : letters) add_scaled(n, scale, change + letter * n, row_.data());
            for (const MatchChannel& channel : channels) {
                double* weights = w + channel.at + code * channel.t_size;
                const std::int32_t* t = data_.t.code(channel.t_stream, i);
                for (std::int64_t j = 0; j < n; ++j) add(weights[t[j]], row_[j]);
            }
        });
        if (data_.s.n_dense) {
            const std::int64_t p = data_.s.n_dense, q = data_.t.n_dense;
            row_.resize(static_cast<std::size_t>(q));
            dense_.assign(static_cast<std::size_t>(p * q), 0.0);
            for (std::int64_t k = 0; k < m; ++k) {
                weighted_rows(n, q, change + k * n, 1, data_.t.dense + data_.t.letters.begin(i) * q, row_.data());
                const double* u = data_.s.dense + (data_.s.letters.begin(i) + k) * p;
                for (std::int64_t a = 0; a < p; ++a)
                    if (u[a] != 0.0) add_scaled(q, scale * u[a], row_.data(), &dense_[a * q]);
            }
            for (std::int64_t k = 0; k < p * q; ++k) add(w[data_.dense_at + k], dense_[k]);
        }
        for (const GapChannel& channel : data_.gaps) {
            const std::int32_t* codes = data_.codes(channel, i);
            const double* changes = change + gap_at(i, channel.deletion, channel.beside, channel.first);
            for (std::int64_t k = 0; k < gap_size(i, channel); ++k) add(w[channel.at + codes[k]], scale * changes[k]);
        }
        return growth;
    }

private:
    // θ, but with `share` only the rows of matches of the first letter with each code, and `rows_` of the others.
    void scores(std::int64_t i, const double* w, double* theta, bool share) {
        const std::int64_t m = data_.s.length(i), n = data_.t.length(i);
        std::fill_n(theta + (data_.matches.empty() ? 0 : m * n), size(i) - (data_.matches.empty() ? 0 : m * n), 0.0);
        each_group(i, [&](std::span<const MatchChannel> channels, std::span<const std::int64_t> letters) {
            const std::int64_t stream = channels[0].s_stream;
            const std::int64_t code = data_.s.code(stream, i)[letters[0]];
            row_.assign(static_cast<std::size_t>(n), 0.0);
            for (const MatchChannel& channel : channels) {
                const double* weights = w + channel.at + code * channel.t_size;
                const std::int32_t* t = data_.t.code(channel.t_stream, i);
                for (std::int64_t j = 0; j < n; ++j) row_[j] += weights[t[j]];
            }
            if (share) {
                std::copy(row_.begin(), row_.end(), theta + letters[0] * n);
                for (std::int64_t letter : letters) rows_[static_cast<std::size_t>(letter)] = theta + letters[0] * n;
                return;
            }
            for (std::int64_t letter : letters) {
                if (stream == data_.matches[0].s_stream)
                    std::copy(row_.begin(), row_.end(), theta + letter * n);
                else
                    add_scaled(n, 1.0, row_.data(), theta + letter * n);
            }
        });
        if (data_.s.n_dense) {
            const std::int64_t p = data_.s.n_dense, q = data_.t.n_dense;
            const double* v = data_.t.dense + data_.t.letters.begin(i) * q;
            row_.resize(static_cast<std::size_t>(q));
            for (std::int64_t k = 0; k < m; ++k) {
                weighted_rows(p, q, data_.s.dense + (data_.s.letters.begin(i) + k) * p, 1, w + data_.dense_at, row_.data());
                for (std::int64_t j = 0; j < n; ++j) theta[k * n + j] += inner_product(q, row_.data(), v + j * q);
            }
        }
        for (const GapChannel& channel : data_.gaps) {
            const std::int32_t* codes = data_.codes(channel, i);
            double* out = theta + gap_at(i, channel.deletion, channel.beside, channel.first);
            for (std::int64_t k = 0; k < gap_size(i, channel); ++k) out[k] += w[channel.at + codes[k]];
        }
        if (data_.scale[i] != 1.0)
            for (std::int64_t k = 0; k < size(i); ++k) theta[k] *= data_.scale[i];
    }

    // What gaps score with their first letters: as all letters do, and more.
    void add_firsts(std::int64_t i, const double* theta) {
        const std::int64_t m = data_.s.length(i), n = data_.t.length(i), half = 2 * m + 2 * n + 2;
        first_.assign(theta + m * n, theta + m * n + half);
        add_scaled(half, 1.0, theta + m * n + half, first_.data());
    }

    // Calls visit(channels, letters) for all letters of s that have the same code in a stream, with the channels that read
    // it: what their matches score depends on the letter of t only. One stream comes after another.
    template <class Visit>
    void each_group(std::int64_t i, Visit&& visit) {
        const std::int64_t m = data_.s.length(i);
        for (std::size_t begin = 0, end = 0; begin < data_.matches.size(); begin = end) {
            const std::int64_t stream = data_.matches[begin].s_stream;
            while (end < data_.matches.size() && data_.matches[end].s_stream == stream) ++end;
            const std::int32_t* codes = data_.s.code(stream, i);
            const std::span order(data_.order + stream * data_.s.n_letters + data_.s.letters.begin(i), static_cast<std::size_t>(m));
            for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
                while (last < order.size() && codes[order[last]] == codes[order[first]]) ++last;
                visit(data_.matches.subspan(begin, end - begin), order.subspan(first, last - first));
            }
        }
    }

    template <class Visit>
    void each_part(std::int64_t i, const std::int32_t* all_codes, Visit&& visit) const {
        const std::int64_t n = data_.t.length(i);
        walk(
            data_.s.length(i), n, data_.ends, all_codes + data_.outputs().begin(i),
            [&](std::int64_t k, std::int64_t j) { visit(k * n + j); },
            [&](bool deletion, std::int64_t letter, std::int64_t border, bool first) {
                for (bool opening : {false, true}) {
                    if (opening && !first) continue;
                    visit(gap_at(i, deletion, false, opening) + letter);
                    visit(gap_at(i, deletion, true, opening) + border);
                }
            });
    }

    AlignmentCounts counts(std::int64_t i, double* parts) const {
        auto gap = [&](bool deletion) {
            return GapCounts{parts + gap_at(i, deletion, false, false), parts + gap_at(i, deletion, true, false),
                             parts + gap_at(i, deletion, false, true), parts + gap_at(i, deletion, true, true)};
        };
        return {parts, gap(true), gap(false)};
    }

    std::int64_t gap_at(std::int64_t i, bool deletion, bool beside, bool first) const {
        const std::int64_t m = data_.s.length(i), n = data_.t.length(i);
        return m * n + (first ? 2 * m + 2 * n + 2 : 0) + (deletion ? 0 : m + n + 1) + (beside ? (deletion ? m : n) : 0);
    }
    std::int64_t gap_size(std::int64_t i, const GapChannel& channel) const {
        const AlignedSide& side = channel.deletion != channel.beside ? data_.s : data_.t;
        return side.length(i) + channel.beside;
    }

    AlignmentData data_;
    const double* w_ = nullptr;
    AlignmentSums sums_;
    std::vector<const double*> rows_;
    std::vector<double> theta_, first_, row_, dense_;
};

}  // namespace structlearn
