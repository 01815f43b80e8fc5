#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "batch/ragged.hpp"
#include "linear/pair_layout.hpp"
#include "linear/tokens.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Scorers: θ = A w, the scores of the parts of one example, and w += Aᵀ μ. Local parts come first, then the shared ones,
// which all examples have in common.

// One part more and another one less, −1 for none; both at the same place, or both shared.
struct Move {
    std::int32_t plus, minus;
    auto operator<=>(const Move&) const = default;
};

// Local parts that are scored by the features of a token: `width` of them at every token, or at every pair of neighbours. A
// feature has a weight for each of them; or, where there is a layout, for those that the layout says; or, where parts have
// features Λ, (width, n_outputs), a weight for each of those, and a part has the features x ⊗ Λ(part).
struct TokenBlock {
    CsrMatrix X;
    std::int64_t at;  // the first weight
    std::int64_t width;
    bool pairs;
    Ragged tokens;  // of the examples
    const double* output_features = nullptr;
    std::int64_t n_outputs = width;
    PairLayout* layout = nullptr;
    std::int64_t first_row = 0;  // of the layout: that of feature 0

    const double* output(std::int64_t part) const { return output_features + part * n_outputs; }

    void scores(std::int64_t token, const double* w, double* theta) const {
        if (layout) {
            std::fill_n(theta, width, 0.0);
            return X.row(token, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
                layout->prefetch(first_row, columns, count, w);
                for (std::int64_t k = 0; k < count; ++k) layout->add_scores(first_row + columns[k], x[k], w, theta);
            });
        }
        if (!output_features) return token_scores(X, token, w + at, width, theta);
        std::vector<double> projected(static_cast<std::size_t>(n_outputs));
        token_scores(X, token, w + at, n_outputs, projected.data());
        for (std::int64_t part = 0; part < width; ++part) {
            double sum = 0.0;
            for (std::int64_t r = 0; r < n_outputs; ++r) sum += output(part)[r] * projected[r];
            theta[part] = sum;
        }
    }
    // w += x ⊗ Λᵀ change; returns by how much ‖w‖² grows.
    double push(std::int64_t token, const double* change, double* w) const {
        if (layout)
            return X.row(token, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
                double growth = 0.0;
                for (std::int64_t k = 0; k < count; ++k) growth += layout->push(first_row + columns[k], x[k], change, w);
                return growth;
            });
        if (!output_features) return add_token(X, token, change, width, w + at);
        std::vector<double> projected(static_cast<std::size_t>(n_outputs));
        weighted_rows(width, n_outputs, change, 1, output_features, projected.data());
        return add_token(X, token, projected.data(), n_outputs, w + at);
    }
    // Σ_f x_f ⟨w_f, Λ(plus) − Λ(minus)⟩, −1 for none.
    double dot(std::int64_t token, std::int64_t plus, std::int64_t minus, const double* w) const {
        if (!output_features && !layout && plus >= 0 && minus >= 0) return pair_score(X, token, w + at, width, plus, minus);
        double sum = 0.0;
        if (layout) {
            X.row(token, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
                layout->prefetch(first_row, columns, count, w);
                for (std::int64_t k = 0; k < count; ++k) {
                    const std::int64_t row = first_row + columns[k];
                    if (plus >= 0) sum += x[k] * layout->weight(row, static_cast<std::int32_t>(plus), w);
                    if (minus >= 0) sum -= x[k] * layout->weight(row, static_cast<std::int32_t>(minus), w);
                }
            });
            return sum;
        }
        if (plus >= 0) features(token, plus, 1.0, [&](std::int64_t index, double value) { sum += value * w[index]; });
        if (minus >= 0) features(token, minus, -1.0, [&](std::int64_t index, double value) { sum += value * w[index]; });
        return sum;
    }
    // Calls visit(index, value) for the features of a part, times a coefficient.
    template <class Visit>
    void features(std::int64_t token, std::int64_t part, double coefficient, Visit&& visit) const {
        X.row(token, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
            for (std::int64_t k = 0; k < count; ++k) {
                if (layout) {
                    const std::int64_t index = layout->find(first_row + columns[k], static_cast<std::int32_t>(part));
                    if (index >= 0) visit(index, coefficient * double{x[k]});
                    continue;
                }
                const std::int64_t first = at + columns[k] * n_outputs;
                if (!output_features) {
                    visit(first + part, coefficient * double{x[k]});
                    continue;
                }
                for (std::int64_t r = 0; r < n_outputs; ++r)
                    if (output(part)[r] != 0.0) visit(first + r, coefficient * double{x[k]} * output(part)[r]);
            }
        });
    }
    // Where there is a layout: the features of a part get weights, unless they have them.
    void touch(std::int64_t token, std::int64_t part) const {
        X.row(token, [&](const std::int32_t* columns, const auto*, std::int64_t count) {
            for (std::int64_t k = 0; k < count; ++k) layout->touch(first_row + columns[k], static_cast<std::int32_t>(part));
        });
    }
};

// Shared parts that are weights themselves, times a factor.
struct TiedBlock {
    std::int64_t at;
    std::int64_t size;
    double factor;
};

class TokenScorer {
public:
    TokenScorer(std::span<const TokenBlock> blocks, std::span<const TiedBlock> tied, const std::uint8_t* kept,
                std::int64_t n_weights)
        : blocks_(blocks), tied_(tied), kept_(kept), n_weights_(n_weights) {
        for (const TiedBlock& block : tied_) n_shared_ += block.size;
    }

    std::int64_t n_weights() const { return n_weights_; }
    std::int64_t n_shared() const { return n_shared_; }
    std::int64_t n_local(std::int64_t i) const {
        std::int64_t sum = 0;
        for (const TokenBlock& block : blocks_) sum += n_places(block, i) * block.width;
        return sum;
    }

    void shared(const double* w, double* theta) const {
        for (const TiedBlock block : tied_) {
            for (std::int64_t k = 0; k < block.size; ++k) theta[k] = block.factor * w[block.at + k];
            theta += block.size;
        }
    }
    void local(std::int64_t i, const double* w, double* theta) const {
        for (const TokenBlock& block : blocks_)
            for (std::int64_t t = 0; t < n_places(block, i); ++t, theta += block.width)
                block.scores(block.tokens.begin(i) + t, w, theta);
    }

    // w += Aᵀ change; returns by how much ‖w‖² grows.
    double push(std::int64_t i, const double* change, double* w) const {
        double growth = 0.0;
        for (const TokenBlock& block : blocks_)
            for (std::int64_t t = 0; t < n_places(block, i); ++t, change += block.width)
                growth += block.push(block.tokens.begin(i) + t, change, w);
        const std::uint8_t* kept = kept_;
        for (const TiedBlock& block : tied_) {
            if (kept)
                for (std::int64_t k = 0; k < block.size; ++k)
                    growth += *kept++ ? add_growing(1, block.factor, change + k, w + block.at + k) : 0.0;
            else
                growth += add_growing(block.size, block.factor, change, w + block.at);
            change += block.size;
        }
        return growth;
    }

    // Where a part is: those with the same features are neighbours.
    struct Place {
        const TokenBlock* block;  // null for shared parts
        std::int64_t token;
        std::int64_t first;  // part of the place, which has `width` of them
        std::int64_t width;
        bool holds(std::int64_t part) const { return part >= first && part < first + width; }
    };
    Place place(std::int64_t i, std::int64_t part) const {
        std::int64_t first = 0;
        for (const TokenBlock& block : blocks_) {
            const std::int64_t size = n_places(block, i) * block.width;
            if (part - first < size) {
                // Divisions of short numbers take half the time.
                const std::int64_t t = static_cast<std::uint32_t>(part - first) / static_cast<std::uint32_t>(block.width);
                return {&block, block.tokens.begin(i) + t, first + t * block.width, block.width};
            }
            first += size;
        }
        return {nullptr, 0, first, n_shared_};
    }

    // ⟨w, A_part⟩ of all parts of a place of tokens.
    void scores_at(const Place& place, const double* w, double* out) const {
        place.block->scores(place.token, w, out);
    }
    // ⟨w, A_plus − A_minus⟩ for parts of a place, −1 for none.
    double dot_at(const Place& place, std::int64_t plus, std::int64_t minus, const double* w) const {
        if (!place.block) return shared_weight(plus - place.first, plus, w) - shared_weight(minus - place.first, minus, w);
        return place.block->dot(place.token, plus >= 0 ? plus - place.first : -1, minus >= 0 ? minus - place.first : -1, w);
    }
    double dot(std::int64_t i, std::int64_t plus, std::int64_t minus, const double* w) const {
        return dot_at(place(i, std::max(plus, minus)), plus, minus, w);
    }

    // w += coefficient (A_plus − A_minus)
    void add(std::int64_t i, std::int64_t plus, std::int64_t minus, double coefficient, double* w) const {
        const Place at = place(i, std::max(plus, minus));
        if (at.block && plus >= 0 && minus >= 0 && !at.block->layout && !at.block->output_features)
            return add_pair(at.block->X, at.token, coefficient, at.width, plus - at.first, minus - at.first,
                            w + at.block->at);
        auto change = [&](std::int64_t index, double value) { w[index] += value; };
        if (plus >= 0) features(i, plus, coefficient, change);
        if (minus >= 0) features(i, minus, -coefficient, change);
    }

    // Calls visit(index, value) for the features of a part, times a coefficient.
    template <class Visit>
    void features(std::int64_t i, std::int64_t part, double coefficient, Visit&& visit) const {
        const Place at = place(i, part);
        if (!at.block) {
            const TiedBlock tied = tied_of(part - at.first);
            if (!kept_ || kept_[part - at.first]) visit(tied.at, coefficient * tied.factor);
            return;
        }
        at.block->features(at.token, part - at.first, coefficient, visit);
    }

    // The features of a part get weights where there is a layout.
    void touch(std::int64_t i, std::int64_t part) const {
        if (part < 0) return;
        const Place at = place(i, part);
        if (at.block && at.block->layout) at.block->touch(at.token, part - at.first);
    }

    // The same for lists of shared parts, counted from the first one, those with −1 as ~part.
    double shared_dot(std::span<const std::int32_t> parts, const double* w) const {
        double sum = 0.0;
        if (tied_.size() == 1) {
            const double* weights = w + tied_[0].at;
            for (const std::int32_t part : parts) sum += part >= 0 ? weights[part] : -weights[~part];
            return tied_[0].factor * sum;
        }
        shared_features(parts, [&](std::int64_t index, double value) { sum += value * w[index]; });
        return sum;
    }
    void add_shared(std::span<const std::int32_t> parts, double coefficient, double* w) const {
        if (tied_.size() == 1 && !kept_) {
            double* weights = w + tied_[0].at;
            const double change = tied_[0].factor * coefficient;
            for (const std::int32_t part : parts) part >= 0 ? weights[part] += change : weights[~part] -= change;
            return;
        }
        shared_features(parts, [&](std::int64_t index, double value) { w[index] += coefficient * value; });
    }
    template <class Visit>
    void shared_features(std::span<const std::int32_t> parts, Visit&& visit) const {
        for (const std::int32_t part : parts) {
            const std::int32_t which = part >= 0 ? part : ~part;
            const TiedBlock tied = tied_of(which);
            if (!kept_ || kept_[which]) visit(tied.at, part >= 0 ? tied.factor : -tied.factor);
        }
    }

private:
    std::int64_t n_places(const TokenBlock& block, std::int64_t i) const {
        return std::max<std::int64_t>(block.tokens.size(i) - block.pairs, 0);
    }

    // The weight of a shared part, as a block of its own.
    TiedBlock tied_of(std::int64_t part) const {
        for (const TiedBlock& block : tied_) {
            if (part < block.size) return {block.at + part, 1, block.factor};
            part -= block.size;
        }
        return {};
    }
    double shared_weight(std::int64_t place, std::int64_t part, const double* w) const {
        if (part < 0) return 0.0;
        const TiedBlock tied = tied_of(place);
        return tied.factor * w[tied.at];
    }

    std::span<const TokenBlock> blocks_;
    std::span<const TiedBlock> tied_;
    const std::uint8_t* kept_;  // (n_shared,): the shared parts that Ψ has, null if all
    std::int64_t n_weights_;
    std::int64_t n_shared_ = 0;
};

// Scores that are given: w is θ itself, the local scores of one example after another, then the shared ones.
class GivenScorer {
public:
    GivenScorer(std::int64_t n_shared, Ragged local) : n_shared_(n_shared), local_(local) {}

    std::int64_t n_weights() const { return n_shared_ + local_.total(); }
    std::int64_t n_shared() const { return n_shared_; }
    std::int64_t n_local(std::int64_t i) const { return local_.size(i); }
    void shared(const double* w, double* theta) const { std::copy_n(w + local_.total(), n_shared_, theta); }
    void local(std::int64_t i, const double* w, double* theta) const {
        std::copy_n(w + local_.begin(i), n_local(i), theta);
    }

private:
    std::int64_t n_shared_;
    Ragged local_;
};

}  // namespace structlearn
