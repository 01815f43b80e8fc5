#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sparse.hpp"
#include "tokens.hpp"

namespace structlearn {

// Pairs of items of several examples. The pairs of an example are grouped by kind: all pairs of one kind have the same row of
// features, so that kinds are scored and sorted, never pairs.
struct ItemPairsData {
    CsrMatrix features;                // a row a kind
    const std::int64_t* kind_offsets;  // of the examples
    const std::int64_t* pair_offsets;  // of the kinds
    const std::int32_t* first;         // items of the pairs, counted within the example
    const std::int32_t* second;
    const std::int64_t* item_offsets;  // of the examples

    std::int64_t n_items(std::int64_t example) const { return item_offsets[example + 1] - item_offsets[example]; }
    double score(std::int64_t kind, const double* w) const {
        return features.row(kind, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
            double sum = 0.0;
            for (std::int64_t k = 0; k < count; ++k) sum += x[k] * w[columns[k]];
            return sum;
        });
    }
};

// What is added to the score of a pair, by whether its items have the same label, and which sums are too low to take.
struct PairTerms {
    double inside, across, floor;
};

// Kruskal's algorithm: the heaviest forest of an example's pairs.
class SpanningForest {
public:
    // Pairs whose score plus term exceeds the floor, heaviest first; appends their places. `labels` of the example's items
    // may be null where both terms are the same.
    void heaviest(const ItemPairsData& data, std::int64_t example, const double* w, const std::int32_t* labels,
                  const PairTerms& terms, std::vector<std::int64_t>& out) {
        groups_.clear();
        for (std::int64_t kind = data.kind_offsets[example]; kind < data.kind_offsets[example + 1]; ++kind) {
            const double score = data.score(kind, w);
            if (terms.inside == terms.across) {
                add(score + terms.inside, kind, Side::both, terms.floor);
                continue;
            }
            const std::int64_t begin = data.pair_offsets[kind], end = data.pair_offsets[kind + 1];
            std::int64_t inside = 0;
            for (std::int64_t p = begin; p < end; ++p) inside += labels[data.first[p]] == labels[data.second[p]];
            // Most kinds are on one side only: those need not be looked at pair by pair again.
            if (inside > 0) add(score + terms.inside, kind, inside == end - begin ? Side::both : Side::inside, terms.floor);
            if (inside < end - begin) add(score + terms.across, kind, inside == 0 ? Side::both : Side::across, terms.floor);
        }
        std::sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
            if (a.weight != b.weight) return a.weight > b.weight;
            return a.kind != b.kind ? a.kind < b.kind : a.side < b.side;
        });
        reset(data.n_items(example));
        for (const Group& group : groups_) {
            for (std::int64_t p = data.pair_offsets[group.kind]; p < data.pair_offsets[group.kind + 1]; ++p) {
                const std::int32_t i = data.first[p], j = data.second[p];
                if (group.side != Side::both && (labels[i] == labels[j]) != (group.side == Side::inside)) continue;
                if (join(i, j)) out.push_back(p);
            }
            if (n_trees_ <= 1) return;
        }
    }

    // The pairs between items of the same label, in the order given, as far as they close no cycle.
    void in_order(const ItemPairsData& data, std::int64_t example, const std::int64_t* begin, const std::int64_t* end,
                  const std::int32_t* labels, std::vector<std::int64_t>& out) {
        reset(data.n_items(example));
        for (const std::int64_t* p = begin; p < end; ++p)
            if (labels[data.first[*p]] == labels[data.second[*p]] && join(data.first[*p], data.second[*p]))
                out.push_back(*p);
    }

private:
    enum class Side : std::int8_t { both, inside, across };
    struct Group {
        double weight;
        std::int64_t kind;
        Side side;
    };

    void add(double weight, std::int64_t kind, Side side, double floor) {
        if (weight > floor) groups_.push_back({weight, kind, side});
    }

    void reset(std::int64_t n_items) {
        parent_.resize(static_cast<std::size_t>(n_items));
        std::iota(parent_.begin(), parent_.end(), 0);
        n_trees_ = n_items;
    }

    std::int32_t root(std::int32_t i) {
        auto parent = [&](std::int32_t k) -> std::int32_t& { return parent_[static_cast<std::size_t>(k)]; };
        for (; parent(i) != i; i = parent(i)) parent(i) = parent(parent(i));
        return i;
    }

    bool join(std::int32_t i, std::int32_t j) {
        i = root(i), j = root(j);
        if (i == j) return false;
        // The smaller one is the root: with halved paths that is quick enough, and the answer depends on nothing else.
        parent_[static_cast<std::size_t>(std::max(i, j))] = std::min(i, j);
        --n_trees_;
        return true;
    }

    std::vector<Group> groups_;
    std::vector<std::int32_t> parent_;
    std::int64_t n_trees_ = 0;
};

// Sums of rows of features, one coefficient a kind; entries that cancel are left out.
class FeatureSums {
public:
    explicit FeatureSums(std::int64_t n_weights) : dense_(static_cast<std::size_t>(n_weights), 0.0) {}

    void add(const ItemPairsData& data, std::int64_t kind, double coefficient) {
        data.features.row(kind, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
            for (std::int64_t k = 0; k < count; ++k) {
                double& sum = dense_[static_cast<std::size_t>(columns[k])];
                if (sum == 0.0) touched_.push_back(columns[k]);
                sum += coefficient * x[k];
            }
        });
    }

    // Appends the sum to rows and begins anew.
    void move_to(CsrRows& rows) {
        std::sort(touched_.begin(), touched_.end());
        touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
        for (const std::int32_t column : touched_) {
            double& sum = dense_[static_cast<std::size_t>(column)];
            if (sum == 0.0) continue;
            rows.indices.push_back(column);
            rows.values.push_back(sum);
            sum = 0.0;
        }
        rows.indptr.push_back(static_cast<std::int64_t>(rows.indices.size()));
        touched_.clear();
    }

private:
    std::vector<double> dense_;
    std::vector<std::int32_t> touched_;
};

// Calls work(kind, difference, disagreements) for the kinds of an example: how many more of its pairs have both items in one
// cluster on the left than on the right, and how many have on one side only.
template <class Work>
void compare(const ItemPairsData& data, std::int64_t example, const std::int32_t* left, const std::int32_t* right,
             Work&& work) {
    for (std::int64_t kind = data.kind_offsets[example]; kind < data.kind_offsets[example + 1]; ++kind) {
        std::int64_t difference = 0, disagreements = 0;
        for (std::int64_t p = data.pair_offsets[kind]; p < data.pair_offsets[kind + 1]; ++p) {
            const std::int32_t i = data.first[p], j = data.second[p];
            const int change = int{left[i] == left[j]} - int{right[i] == right[j]};
            difference += change;
            disagreements += change != 0;
        }
        work(kind, difference, disagreements);
    }
}

// Best-first agglomeration: starts from single items and joins the two clusters whose pairs between them have the largest
// sum of scores, while that is positive. A pair that is not there scores 0.
class Agglomeration {
public:
    // Writes for each item the smallest item of its cluster.
    void run(const ItemPairsData& data, std::int64_t example, const double* w, const std::int32_t* labels,
             const PairTerms& terms, std::int32_t* out) {
        n_ = static_cast<std::size_t>(data.n_items(example));
        sums_.assign(n_ * n_, 0.0);
        for (std::int64_t kind = data.kind_offsets[example]; kind < data.kind_offsets[example + 1]; ++kind) {
            const double score = data.score(kind, w);
            for (std::int64_t p = data.pair_offsets[kind]; p < data.pair_offsets[kind + 1]; ++p) {
                const std::int32_t i = data.first[p], j = data.second[p];
                const double term = labels && labels[i] == labels[j] ? terms.inside : terms.across;
                sum(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) = score + term;
                sum(static_cast<std::size_t>(j), static_cast<std::size_t>(i)) = score + term;
            }
        }
        std::iota(out, out + n_, 0);
        alive_.resize(n_);
        std::iota(alive_.begin(), alive_.end(), std::size_t{0});
        partner_.assign(n_, 0);
        for (const std::size_t c : alive_) look(c);
        while (alive_.size() > 1) {
            std::size_t kept = alive_[0];
            for (const std::size_t c : alive_)
                if (best(c) > best(kept)) kept = c;
            if (!(best(kept) > 0.0)) return;
            std::size_t gone = partner_[kept];
            if (gone < kept) std::swap(kept, gone);
            merge(kept, gone);
            for (std::size_t i = 0; i < n_; ++i)
                if (out[i] == static_cast<std::int32_t>(gone)) out[i] = static_cast<std::int32_t>(kept);
        }
    }

private:
    double& sum(std::size_t a, std::size_t b) { return sums_[a * n_ + b]; }
    // The largest sum with another cluster; of a cluster that is alone, 0.
    double best(std::size_t c) { return partner_[c] == c ? 0.0 : sum(c, partner_[c]); }

    void look(std::size_t c) {
        partner_[c] = c;
        for (const std::size_t other : alive_)
            if (other != c && (partner_[c] == c || sum(c, other) > best(c))) partner_[c] = other;
    }

    void merge(std::size_t kept, std::size_t gone) {
        alive_.erase(std::lower_bound(alive_.begin(), alive_.end(), gone));
        for (const std::size_t c : alive_) sum(kept, c) += sum(gone, c);
        for (const std::size_t c : alive_) {
            if (c == kept) continue;
            sum(c, kept) = sum(kept, c);
            if (partner_[c] == kept || partner_[c] == gone)
                look(c);
            else if (sum(c, kept) > best(c))
                partner_[c] = kept;
        }
        look(kept);
    }

    std::size_t n_ = 0;
    std::vector<double> sums_;
    std::vector<std::size_t> alive_, partner_;
};

}  // namespace structlearn
