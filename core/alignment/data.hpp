#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "alignment/scores.hpp"
#include "batch/ragged.hpp"
#include "linear/dense.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Pairs of sequences, and the parts of their alignments: one for every pair of letters, (m, n), then for the gaps, of all
// their letters and of those with which one begins: deletions by the letter and by the place in t, insertions by the letter
// and by the place in s.
//
// Restrictions are `known`, one code a letter of s, null for none: the place of its partner, or −1 where nothing is known.
// Matches that cross a known one, and gaps at its letters, have −∞ instead of their scores.
struct AlignmentShape {
    Ragged s, t;  // letters of the pairs
    Ends ends;
    const std::int32_t* known = nullptr;

    std::int64_t n_local(std::int64_t i) const { return s.size(i) * t.size(i) + 4 * (s.size(i) + t.size(i) + 1); }
    std::int64_t gap_at(std::int64_t i, bool deletion, bool beside, bool first) const {
        const std::int64_t m = s.size(i), n = t.size(i);
        return m * n + (first ? 2 * m + 2 * n + 2 : 0) + (deletion ? 0 : m + n + 1) + (beside ? (deletion ? m : n) : 0);
    }
};

// Indicators of what two letters are together: the weight of codes a and b is at + a t_size + b.
struct MatchChannel {
    std::int64_t s_stream, t_stream;  // rows of the codes
    std::int64_t t_size;
    std::int64_t at;
};

// Indicators of a letter that has no partner, or, beside, of where in the other sequence the gap is.
struct GapChannel {
    bool deletion, beside, first;  // first: only of the letter with which a gap begins
    std::int64_t stream;
    std::int64_t at;
};

// Channels from rows of numbers: stream of s, stream of t, codes of t, first weight;
inline std::vector<MatchChannel> match_channels(MatrixView<std::int64_t> rows) {
    std::vector<MatchChannel> channels;
    for (std::size_t k = 0; k < rows.rows; ++k) {
        const std::int64_t* row = rows.row(k);
        channels.push_back({row[0], row[1], row[2], row[3]});
    }
    return channels;
}

// and deletion, beside, first, stream, first weight.
inline std::vector<GapChannel> gap_channels(MatrixView<std::int64_t> rows) {
    std::vector<GapChannel> channels;
    for (std::size_t k = 0; k < rows.rows; ++k) {
        const std::int64_t* row = rows.row(k);
        channels.push_back({row[0] != 0, row[1] != 0, row[2] != 0, row[3], row[4]});
    }
    return channels;
}

// One of the two sequences of every pair, all pairs one after another.
struct AlignedSide {
    Ragged letters;               // of the pairs
    const std::int32_t* codes;    // (n_streams, n_letters)
    const std::int32_t* gaps;     // (n_gap_streams, n_letters): of a letter that has no partner
    const std::int32_t* borders;  // (n_border_streams, n_letters + n_pairs): before every letter, and after the last
    const double* dense;          // (n_letters, n_dense)
    std::int64_t n_dense;
    std::int64_t n_letters = letters.total();

    std::int64_t length(std::int64_t i) const { return letters.size(i); }
    const std::int32_t* code(std::int64_t stream, std::int64_t i) const { return codes + stream * n_letters + letters.begin(i); }
    const std::int32_t* gap(std::int64_t stream, std::int64_t i) const { return gaps + stream * n_letters + letters.begin(i); }
    const std::int32_t* border(std::int64_t stream, std::int64_t i) const {
        return borders + stream * (n_letters + letters.count()) + letters.begin(i) + i;
    }
};

// Of every stream and pair the letters by their codes, counted from the pair's first one.
inline std::vector<std::int64_t> order_by_codes(const AlignedSide& side, std::int64_t n_streams) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(n_streams * side.n_letters));
    for (std::int64_t stream = 0; stream < n_streams; ++stream)
        for (std::int64_t i = 0; i < side.letters.count(); ++i) {
            const std::int32_t* codes = side.code(stream, i);
            std::int64_t* begin = order.data() + stream * side.n_letters + side.letters.begin(i);
            std::iota(begin, begin + side.length(i), 0);
            std::stable_sort(begin, begin + side.length(i), [&](auto a, auto b) { return codes[a] < codes[b]; });
        }
    return order;
}

// Pairs of sequences bound to an alignment model. Ψ counts the codes of matches and gaps, and for dense features has
// Σ_(i, j) u_i v_jᵀ from `dense_at` on; all of it times the scale of the pair.
struct AlignmentData {
    AlignedSide s, t;
    std::span<const MatchChannel> matches;  // by s_stream, increasing
    std::span<const GapChannel> gaps;
    std::int64_t dense_at;
    const double* scale;        // (n_pairs,)
    const std::int64_t* order;  // (n_streams, n_letters): the letters of a pair of s by their codes, counted from its first one
    AlignmentShape shape;
    // The codes of a gap channel: one a letter of the gap's own sequence, or one a border of the other one.
    const std::int32_t* codes(const GapChannel& channel, std::int64_t i) const {
        const AlignedSide& side = channel.deletion != channel.beside ? s : t;
        return channel.beside ? side.border(channel.stream, i) : side.gap(channel.stream, i);
    }
};

// Calls match(i, j), gap(deletion, letter, border of the other sequence, first) along the path that codes stand for; what
// is free is left out.
template <class Match, class Gap>
void walk(std::int64_t m, std::int64_t n, Ends ends, const std::int32_t* codes, Match&& match, Gap&& gap) {
    auto between = [&](std::int64_t i, std::int64_t next_i, std::int64_t j, std::int64_t next_j, bool inside) {
        if (!inside && (ends == Ends::local || (ends == Ends::semiglobal && (i == next_i || j == next_j)))) return;
        for (std::int64_t k = i; k < next_i; ++k) gap(true, k, j, k == i);
        for (std::int64_t k = j; k < next_j; ++k) gap(false, k, next_i, k == j);
    };
    std::int64_t i = 0, j = 0;
    for (std::int64_t next = 0; next < m; ++next) {
        if (codes[next] < 0) continue;
        between(i, next, j, codes[next], i > 0);
        match(next, static_cast<std::int64_t>(codes[next]));
        i = next + 1, j = codes[next] + 1;
    }
    between(i, m, j, n, false);
}

// Calls visit(index, value) for the entries of sign × Ψ(x_i, codes), without the matches that `but` has as well.
template <class Visit>
void features(const AlignmentData& data, std::int64_t i, const std::int32_t* codes, const std::int32_t* but, double sign,
              std::vector<double>& dense, Visit&& visit) {
    const std::int64_t p = data.s.n_dense, q = data.t.n_dense;
    const double value = sign * data.scale[i];
    walk(
        data.s.length(i), data.t.length(i), data.shape.ends, codes,
        [&](std::int64_t k, std::int64_t j) {
            if (but && but[k] == j) return;
            for (const MatchChannel& channel : data.matches)
                visit(channel.at + data.s.code(channel.s_stream, i)[k] * channel.t_size +
                          data.t.code(channel.t_stream, i)[j],
                      value);
            const double* u = data.s.dense + (data.s.letters.begin(i) + k) * p;
            const double* v = data.t.dense + (data.t.letters.begin(i) + j) * q;
            for (std::int64_t a = 0; a < p; ++a)
                if (u[a] != 0.0) add_scaled(q, value * u[a], v, &dense[static_cast<std::size_t>(a * q)]);
        },
        [&](bool deletion, std::int64_t letter, std::int64_t border, bool first) {
            for (const GapChannel& channel : data.gaps)
                if (channel.deletion == deletion && (first || !channel.first))
                    visit(channel.at + data.codes(channel, i)[channel.beside ? border : letter], value);
        });
}

// Calls visit(index, value) for the entries of Ψ(x_i, codes) − Ψ(x_i, other); an index may come more than once.
template <class Visit>
void difference(const AlignmentData& data, std::int64_t i, const std::int32_t* codes, const std::int32_t* other,
                Visit&& visit) {
    if (std::equal(codes, codes + data.s.length(i), other)) return;
    std::vector<double> dense(static_cast<std::size_t>(data.s.n_dense * data.t.n_dense), 0.0);
    features(data, i, codes, other, 1.0, dense, visit);
    features(data, i, other, codes, -1.0, dense, visit);
    for (std::size_t k = 0; k < dense.size(); ++k)
        if (dense[k] != 0.0) visit(data.dense_at + static_cast<std::int64_t>(k), dense[k]);
}

}  // namespace structlearn
