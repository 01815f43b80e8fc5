#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "dual/products.hpp"
#include "dual/saved_sets.hpp"
#include "parts/scorers.hpp"

namespace structlearn {

// Planes as sparse differences δμ of parts: a plane is a list of moves. What planes of one example have in common is computed
// once: moves between local parts stand in one list for all of them, and planes point there. See dual/working_sets.hpp for
// what a store is. The scorer is that of scorers.hpp, or one that keeps
// what it found for the parts of a block, see dependency/features/kept_arcs.hpp.
template <class Scorer>
class PartPlanes {
    // What a block keeps of the features of its parts, where these are found by work.
    struct Nothing {
        std::size_t nbytes() const { return 0; }
    };
    template <class S>
    static auto kept_by() {
        if constexpr (requires { typename S::Kept; })
            return typename S::Kept();
        else
            return Nothing();
    }

public:
    // Moves between local parts, sorted, and shared parts, counted from the first one; those with −1 as ~part.
    struct Plane {
        std::span<const Move> local;
        std::span<const std::int32_t> shared;
    };
    struct Ends {
        std::int32_t members;
        std::int32_t shared;
    };
    struct Block {
        std::vector<Move> moves;            // between local parts, of all planes, sorted
        std::vector<std::int32_t> members;  // the moves of plane 0 in their order, then those of plane 1, …
        std::vector<std::int32_t> shared;   // shared parts, counted from the first one; those with −1 as ~part
        std::vector<Ends> ends;
        decltype(kept_by<Scorer>()) kept;

        std::int64_t size() const { return static_cast<std::int64_t>(ends.size()); }
        std::span<const std::int32_t> members_of(std::int64_t k) const {
            const std::int32_t begin = k ? ends[k - 1].members : 0;
            return {members.data() + begin, static_cast<std::size_t>(ends[k].members - begin)};
        }
        std::span<const std::int32_t> shared_of(std::int64_t k) const {
            const std::int32_t begin = k ? ends[k - 1].shared : 0;
            return {shared.data() + begin, static_cast<std::size_t>(ends[k].shared - begin)};
        }
        std::size_t nbytes() const {
            return 8 * (moves.capacity() + ends.capacity()) + 4 * (members.capacity() + shared.capacity()) + kept.nbytes();
        }
    };

    explicit PartPlanes(const Scorer& scorer) : scorer_(scorer) {}

    const Scorer& scorer() const { return scorer_; }

    // The plane of some moves, until the next call.
    Plane plane(std::int64_t i, std::span<const Move> moves) {
        const auto first = static_cast<std::int32_t>(scorer_.n_local(i));
        local_.clear(), shared_.clear();
        for (const Move move : moves) {
            if (std::max(move.plus, move.minus) < first) {
                local_.push_back(move);
                continue;
            }
            if (move.plus >= 0) shared_.push_back(move.plus - first);
            if (move.minus >= 0) shared_.push_back(~(move.minus - first));
        }
        if (!std::ranges::is_sorted(local_)) std::ranges::sort(local_);
        return {local_, shared_};
    }

    void push(std::int64_t i, Block& block, Plane plane) {
        added_.clear();
        const bool known = std::ranges::all_of(plane.local, [&](const Move& move) {
            const auto at = std::ranges::lower_bound(block.moves, move);
            added_.push_back(static_cast<std::int32_t>(at - block.moves.begin()));
            return at != block.moves.end() && *at == move;
        });
        if (!known) merge(block, plane.local);
        if constexpr (requires { typename Scorer::Kept; })
            if (!known) scorer_.keep(i, plane.local, block.kept);
        // All at once: what a block takes up must not depend on how it came to hold its planes.
        block.members.insert(block.members.end(), added_.begin(), added_.end());
        block.shared.insert(block.shared.end(), plane.shared.begin(), plane.shared.end());
        block.ends.push_back(
            {static_cast<std::int32_t>(block.members.size()), static_cast<std::int32_t>(block.shared.size())});
    }
    bool same(std::int64_t, const Block& block, std::int64_t k, Plane plane) const {
        const auto members = block.members_of(k);
        return members.size() == plane.local.size() &&
               std::ranges::equal(members, plane.local, {}, [&](std::int32_t m) { return block.moves[m]; }) &&
               std::ranges::equal(block.shared_of(k), plane.shared);
    }
    void keep(std::int64_t i, Block& block, std::span<const std::int64_t> kept) {
        Block remaining;
        for (const std::int64_t k : kept) {
            local_.clear();
            for (const std::int32_t m : block.members_of(k)) local_.push_back(block.moves[m]);
            push(i, remaining, {local_, block.shared_of(k)});
        }
        block = std::move(remaining);
    }

    // Moves one after another, and how many each plane has.
    struct Written {
        std::vector<std::int32_t> moves;
        std::vector<std::int64_t> counts;
    };
    void write(std::int64_t i, const Block& block, std::int64_t k, Written& out) const {
        const auto first = static_cast<std::int32_t>(scorer_.n_local(i));
        auto add = [&](std::int32_t plus, std::int32_t minus) { out.moves.push_back(plus), out.moves.push_back(minus); };
        for (const std::int32_t m : block.members_of(k)) add(block.moves[m].plus, block.moves[m].minus);
        for (const std::int32_t part : block.shared_of(k)) part >= 0 ? add(first + part, -1) : add(-1, first + ~part);
        out.counts.push_back(static_cast<std::int64_t>(block.members_of(k).size() + block.shared_of(k).size()));
    }

    void dots(std::int64_t i, const Block& block, const double* w, double* out) {
        score(i, block, w);
        for (std::int64_t k = 0; k < block.size(); ++k) {
            double local = 0.0;
            for (const std::int32_t m : block.members_of(k)) local += by_move_[m];
            out[k] = local + scorer_.shared_dot(block.shared_of(k), w);
        }
    }
    void add(std::int64_t i, const Block& block, const double* coefficients, double* w) {
        by_move_.assign(block.moves.size(), 0.0);
        for (std::int64_t k = 0; k < block.size(); ++k) {
            if (coefficients[k] == 0.0) continue;
            for (const std::int32_t m : block.members_of(k)) by_move_[m] += coefficients[k];
            scorer_.add_shared(block.shared_of(k), coefficients[k], w);
        }
        const auto& scorer = scorer_of(block);
        for (std::size_t m = 0; m < block.moves.size(); ++m)
            if (by_move_[m] != 0.0) scorer.add(i, block.moves[m].plus, block.moves[m].minus, by_move_[m], w);
    }
    void products(std::int64_t i, const Block& block, std::int64_t k, Scratch& scratch, double* out) {
        products_by_spreading(*this, i, block, k, scratch, out);
    }
    // Calls visit(index, value) for the entries of a row; an index may come more than once.
    template <class Visit>
    void each(std::int64_t i, const Block& block, std::int64_t k, Visit&& visit) const {
        const auto& scorer = scorer_of(block);
        for (const std::int32_t m : block.members_of(k)) {
            const auto [plus, minus] = block.moves[m];
            if (plus >= 0) scorer.features(i, plus, 1.0, visit);
            if (minus >= 0) scorer.features(i, minus, -1.0, visit);
        }
        scorer_.shared_features(block.shared_of(k), visit);
    }

private:
    // The scorer of the parts that a block knows.
    decltype(auto) scorer_of(const Block& block) const {
        if constexpr (requires { typename Scorer::Kept; })
            return scorer_.of(block.kept);
        else
            return (scorer_);
    }

    // Moves that the block does not know yet join its list; `added_` says where the given ones are.
    void merge(Block& block, std::span<const Move> local) {
        merged_.clear(), renumbered_.clear(), added_.clear();
        auto known = block.moves.cbegin();
        auto take_known = [&] {
            renumbered_.push_back(static_cast<std::int32_t>(merged_.size()));
            merged_.push_back(*known++);
        };
        for (const Move& move : local) {
            while (known != block.moves.cend() && *known < move) take_known();
            added_.push_back(static_cast<std::int32_t>(merged_.size()));
            if (known != block.moves.cend() && *known == move)
                take_known();
            else
                merged_.push_back(move);
        }
        while (known != block.moves.cend()) take_known();
        for (std::int32_t& member : block.members) member = renumbered_[member];
        block.moves = merged_;
    }

    // by_move_[m] = ⟨w, A_plus − A_minus⟩. Where a place has many moves, the scores of all its parts, side by side in memory,
    // are found sooner than those of the moves.
    void score(std::int64_t i, const Block& block, const double* w) {
        by_move_.resize(block.moves.size());
        const auto& scorer = scorer_of(block);
        for (std::size_t m = 0; m < block.moves.size();) {
            const auto place = scorer.place(i, std::max(block.moves[m].plus, block.moves[m].minus));
            std::size_t end = m + 1;
            while (end < block.moves.size() && place.holds(std::max(block.moves[end].plus, block.moves[end].minus))) ++end;
            const bool many = end - m > 1 && static_cast<std::int64_t>(end - m) * 12 >= place.width;
            if (many) {
                here_.resize(static_cast<std::size_t>(place.width));
                scorer.scores_at(place, w, here_.data());
            }
            for (; m < end; ++m) {
                const auto [plus, minus] = block.moves[m];
                if (!many)
                    by_move_[m] = scorer.dot_at(place, plus, minus, w);
                else
                    by_move_[m] = (plus >= 0 ? here_[plus - place.first] : 0.0) - (minus >= 0 ? here_[minus - place.first] : 0.0);
            }
        }
    }

    Scorer scorer_;
    std::vector<double> by_move_, here_;
    std::vector<Move> local_, merged_;
    std::vector<std::int32_t> shared_, renumbered_, added_;
};

// Reads the planes of saved working sets, one after another. The arrays may come from a file that somebody made up.
template <class Scorer>
class SavedMoves {
public:
    SavedMoves(const Scorer& scorer, std::span<const std::int32_t> moves, std::span<const std::int64_t> counts)
        : scorer_(scorer), moves_(moves), counts_(counts) {}

    std::span<const Move> next(std::int64_t i) {
        require(k_ < counts_.size(), "planes without moves");
        const std::int64_t count = counts_[k_++];
        require(count >= 0 && static_cast<std::size_t>(count) <= moves_.size() / 2, "planes without moves");
        plane_.clear();
        for (std::int64_t j = 0; j < count; ++j) {
            const Move move{moves_[2 * j], moves_[2 * j + 1]};
            const std::int64_t size = scorer_.n_local(i) + scorer_.n_shared();
            require(move.plus >= -1 && move.plus < size && move.minus >= -1 && move.minus < size, "a move beyond the parts");
            require(std::max(move.plus, move.minus) >= 0, "a move of nothing");
            if (move.plus >= 0 && move.minus >= 0)
                require(scorer_.place(i, move.plus).holds(move.minus), "a move between places");
            plane_.push_back(move);
        }
        moves_ = moves_.subspan(2 * static_cast<std::size_t>(count));
        return plane_;
    }

private:
    const Scorer& scorer_;
    std::span<const std::int32_t> moves_;
    std::span<const std::int64_t> counts_;
    std::size_t k_ = 0;
    std::vector<Move> plane_;
};

}  // namespace structlearn
