#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "alignment/data.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Scores of the parts of alignments, from codes and dense features of letters.
class AlignmentScorer {
public:
    AlignmentScorer(const AlignmentData& data, std::int64_t n_weights) : data_(data), n_weights_(n_weights) {}

    std::int64_t n_weights() const { return n_weights_; }
    std::int64_t n_shared() const { return 0; }
    std::int64_t n_local(std::int64_t i) const { return data_.shape.n_local(i); }

    void shared(const double*, double*) const {}
    void local(std::int64_t i, const double* w, double* theta) { scores(i, w, theta, nullptr); }

    // The same, but where a match depends on one code of each letter, only the rows of the first letter of s with each code,
    // and where those of the others are.
    bool local_rows(std::int64_t i, const double* w, double* theta, std::vector<const double*>& rows) {
        if (data_.matches.size() != 1 || data_.s.n_dense != 0 || data_.scale[i] != 1.0) return false;
        rows.resize(static_cast<std::size_t>(data_.s.length(i)));
        scores(i, w, theta, rows.data());
        return true;
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

    // Calls visit(index, value) for the entries of Ψ(x_i, codes) − Ψ(x_i, other); an index may come more than once.
    template <class Visit>
    void difference(std::int64_t i, const std::int32_t* codes, const std::int32_t* other, Visit&& visit) const {
        structlearn::difference(data_, i, codes, other, visit);
    }

private:
    // θ, but with `rows` only the rows of matches of the first letter with each code.
    void scores(std::int64_t i, const double* w, double* theta, const double** rows) {
        const std::int64_t m = data_.s.length(i), n = data_.t.length(i);
        std::fill_n(theta + (data_.matches.empty() ? 0 : m * n), n_local(i) - (data_.matches.empty() ? 0 : m * n), 0.0);
        each_group(i, [&](std::span<const MatchChannel> channels, std::span<const std::int64_t> letters) {
            const std::int64_t stream = channels[0].s_stream;
            const std::int64_t code = data_.s.code(stream, i)[letters[0]];
            row_.assign(static_cast<std::size_t>(n), 0.0);
            for (const MatchChannel& channel : channels) {
                const double* weights = w + channel.at + code * channel.t_size;
                const std::int32_t* t = data_.t.code(channel.t_stream, i);
                for (std::int64_t j = 0; j < n; ++j) row_[j] += weights[t[j]];
            }
            if (rows) {
                std::copy(row_.begin(), row_.end(), theta + letters[0] * n);
                for (std::int64_t letter : letters) rows[letter] = theta + letters[0] * n;
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
            for (std::int64_t k = 0; k < n_local(i); ++k) theta[k] *= data_.scale[i];
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

    std::int64_t gap_at(std::int64_t i, bool deletion, bool beside, bool first) const {
        return data_.shape.gap_at(i, deletion, beside, first);
    }
    std::int64_t gap_size(std::int64_t i, const GapChannel& channel) const {
        const AlignedSide& side = channel.deletion != channel.beside ? data_.s : data_.t;
        return side.length(i) + channel.beside;
    }

    AlignmentData data_;
    std::int64_t n_weights_;
    std::vector<double> row_, dense_;
};

}  // namespace structlearn
