#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "chain/data.hpp"
#include "dual/products.hpp"

namespace structlearn {

// Planes of label sequences. What planes of one example have in common is computed once: a plane is a set of parts, each one
// wrong label at one position, and the transitions that they change. See dual/working_sets.hpp.
class ChainPlanes {
public:
    using Plane = const std::int32_t*;
    struct Part {
        std::int32_t position;
        std::int32_t label;
        auto operator<=>(const Part&) const = default;
    };
    struct Ends {
        std::int32_t members;
        std::int32_t moves;
    };
    struct Block {
        std::vector<Part> parts;            // of all planes, sorted
        std::vector<std::int32_t> members;  // the parts of plane 0 in order of position, then those of plane 1, …
        std::vector<std::int32_t> moves;    // transition weights, those of the truth as they are, the others as ~index
        std::vector<Ends> ends;

        std::int64_t size() const { return static_cast<std::int64_t>(ends.size()); }
        std::span<const std::int32_t> members_of(std::int64_t k) const {
            const std::int32_t begin = k ? ends[k - 1].members : 0;
            return {members.data() + begin, static_cast<std::size_t>(ends[k].members - begin)};
        }
        std::span<const std::int32_t> moves_of(std::int64_t k) const {
            const std::int32_t begin = k ? ends[k - 1].moves : 0;
            return {moves.data() + begin, static_cast<std::size_t>(ends[k].moves - begin)};
        }
        std::size_t nbytes() const {
            return 8 * (parts.capacity() + ends.capacity()) + 4 * (members.capacity() + moves.capacity());
        }
    };

    // `labels` is the truth, one a token.
    ChainPlanes(const ChainData& data, const std::int32_t* labels) : data_(data), labels_(labels) {}

    const ChainData& data() const { return data_; }

    void push(std::int64_t i, Block& block, Plane other) {
        parts_.clear();
        differing_positions(data_, i, truth(i), other,
                            [&](std::int64_t t) { parts_.push_back({static_cast<std::int32_t>(t), other[t]}); });
        add_members(block);
        moves_.clear();
        transition_difference(data_, i, truth(i), other, [&](std::int64_t index, double sign) {
            const auto move = static_cast<std::int32_t>(index);
            moves_.push_back(sign > 0.0 ? move : ~move);
        });
        // All at once, as in `keep`: what a block takes up must not depend on how it came to hold its planes.
        block.moves.insert(block.moves.end(), moves_.begin(), moves_.end());
        end_plane(block);
    }
    bool same(std::int64_t i, const Block& block, std::int64_t k, Plane other) const {
        const auto members = block.members_of(k);
        std::size_t seen = 0;
        bool equal = true;
        differing_positions(data_, i, truth(i), other, [&](std::int64_t t) {
            equal = equal && seen < members.size() && block.parts[members[seen]].position == t &&
                    block.parts[members[seen]].label == other[t];
            ++seen;
        });
        return equal && seen == members.size();
    }
    void keep(std::int64_t, Block& block, std::span<const std::int64_t> kept) {
        Block remaining;
        for (const std::int64_t k : kept) {
            parts_.clear();
            for (const std::int32_t part : block.members_of(k)) parts_.push_back(block.parts[part]);
            add_members(remaining);
            const auto moves = block.moves_of(k);
            remaining.moves.insert(remaining.moves.end(), moves.begin(), moves.end());
            end_plane(remaining);
        }
        block = std::move(remaining);
    }
    // The labels of the sequence.
    using Written = std::vector<std::int32_t>;
    void write(std::int64_t i, const Block& block, std::int64_t k, Written& out) const {
        const auto begin = static_cast<std::ptrdiff_t>(out.size());
        out.insert(out.end(), truth(i), truth(i) + data_.length(i));
        for (const std::int32_t part : block.members_of(k)) out[begin + block.parts[part].position] = block.parts[part].label;
    }
    void dots(std::int64_t i, const Block& block, const double* w, double* out) {
        score_parts(i, block, w);
        const double* transition = w + data_.transitions_at();
        for (std::int64_t k = 0; k < block.size(); ++k) {
            double emissions = 0.0;
            double transitions = 0.0;
            for (const std::int32_t part : block.members_of(k)) emissions += by_part_[part];
            for (const std::int32_t move : block.moves_of(k)) transitions += move >= 0 ? transition[move] : -transition[~move];
            out[k] = emissions + data_.balance * transitions;
        }
    }
    void add(std::int64_t i, const Block& block, const double* coefficients, double* w) {
        by_part_.assign(block.parts.size(), 0.0);
        double* transition = w + data_.transitions_at();
        for (std::int64_t k = 0; k < block.size(); ++k) {
            if (coefficients[k] == 0.0) continue;
            const double change = data_.balance * coefficients[k];
            for (const std::int32_t part : block.members_of(k)) by_part_[part] += coefficients[k];
            for (const std::int32_t move : block.moves_of(k)) transition[move >= 0 ? move : ~move] += move >= 0 ? change : -change;
        }
        for (std::size_t p = 0; p < block.parts.size(); ++p) {
            if (by_part_[p] == 0.0) continue;
            const auto [position, label] = block.parts[p];
            add_pair(data_.X, data_.tokens.begin(i) + position, by_part_[p], data_.n_labels, truth(i)[position], label, w);
        }
    }
    void products(std::int64_t i, const Block& block, std::int64_t k, Scratch& scratch, double* out) {
        products_by_spreading(*this, i, block, k, scratch, out);
    }
    // Calls visit(index, value) for the entries of a row; an index may come more than once.
    template <class Visit>
    void each(std::int64_t i, const Block& block, std::int64_t k, Visit&& visit) const {
        for (const std::int32_t part : block.members_of(k)) {
            const auto [position, label] = block.parts[part];
            data_.X.row(data_.tokens.begin(i) + position, [&](const std::int32_t* columns, const auto* x, std::int64_t count) {
                for (std::int64_t j = 0; j < count; ++j) {
                    visit(columns[j] * data_.n_labels + truth(i)[position], double{x[j]});
                    visit(columns[j] * data_.n_labels + label, -double{x[j]});
                }
            });
        }
        for (const std::int32_t move : block.moves_of(k))
            visit(data_.transitions_at() + (move >= 0 ? move : ~move), move >= 0 ? data_.balance : -data_.balance);
    }

private:
    const std::int32_t* truth(std::int64_t i) const { return labels_ + data_.tokens.begin(i); }

    // The sorted `parts_` become members of a new plane; those that the block does not know yet are merged into its parts.
    void add_members(Block& block) {
        merged_.clear();
        renumbered_.clear();
        added_.clear();
        auto known = block.parts.cbegin();
        auto take_known = [&] {
            renumbered_.push_back(static_cast<std::int32_t>(merged_.size()));
            merged_.push_back(*known++);
        };
        for (const Part& part : parts_) {
            while (known != block.parts.cend() && *known < part) take_known();
            added_.push_back(static_cast<std::int32_t>(merged_.size()));
            if (known != block.parts.cend() && *known == part)
                take_known();
            else
                merged_.push_back(part);
        }
        while (known != block.parts.cend()) take_known();
        if (merged_.size() > block.parts.size()) {
            for (std::int32_t& member : block.members) member = renumbered_[member];
            block.parts = merged_;
        }
        block.members.insert(block.members.end(), added_.begin(), added_.end());
    }

    // by_part_[p] = what w gives the truth's label over the part's. Where a position has many parts, the scores of all its
    // labels, side by side in memory, are found sooner than those of the parts.
    void score_parts(std::int64_t i, const Block& block, const double* w) {
        const std::int64_t L = data_.n_labels;
        by_part_.resize(block.parts.size());
        for (std::size_t p = 0; p < block.parts.size();) {
            const std::int32_t position = block.parts[p].position;
            const std::int64_t token = data_.tokens.begin(i) + position;
            const std::int32_t right = truth(i)[position];
            std::size_t end = p + 1;
            while (end < block.parts.size() && block.parts[end].position == position) ++end;
            const bool many = static_cast<std::int64_t>(end - p) * 12 >= L;
            if (many) {
                label_scores_.resize(static_cast<std::size_t>(L));
                token_scores(data_.X, token, w, L, label_scores_.data());
            }
            for (; p < end; ++p) {
                const std::int32_t wrong = block.parts[p].label;
                by_part_[p] = many ? label_scores_[right] - label_scores_[wrong] : pair_score(data_.X, token, w, L, right, wrong);
            }
        }
    }

    static void end_plane(Block& block) {
        block.ends.push_back(
            {static_cast<std::int32_t>(block.members.size()), static_cast<std::int32_t>(block.moves.size())});
    }

    ChainData data_;
    const std::int32_t* labels_;
    std::vector<double> by_part_, label_scores_;
    std::vector<Part> parts_, merged_;
    std::vector<std::int32_t> renumbered_, added_, moves_;
};

}  // namespace structlearn
