#include "dependency/edmonds.hpp"

#include <algorithm>

#include "linear/vector.hpp"

namespace structlearn {

namespace {

enum State : std::uint8_t { fresh, on_path, done };

}  // namespace

bool BestArborescence::Arc::possible() const { return weight.score > minus_infinity; }

bool BestArborescence::run(std::int64_t n, bool single_root, const double* scores, std::int32_t* heads) {
    if (n == 0) return true;
    read(n, single_root, scores);
    for (std::int32_t start = 1; start <= n; ++start)
        if (state_[start] == fresh && !grow(start)) return false;
    expand(heads);
    return !single_root || std::count(heads, heads + n, 0) == 1;
}

void BestArborescence::read(std::int64_t n, bool single_root, const double* scores) {
    size_ = n + 1;
    const auto size = static_cast<std::size_t>(size_);
    arcs_.resize(size * size);
    active_.resize(size), node_.resize(size), entered_.resize(size);
    for (std::int32_t modifier = 0; modifier <= n; ++modifier) {
        active_[modifier] = node_[modifier] = modifier;
        for (std::int32_t head = 0; head <= n; ++head) {
            const double score = head == modifier || modifier == 0 ? minus_infinity : scores[head * size_ + modifier];
            arc(modifier, head) = {{score, single_root && head == 0 ? -1 : 0}, head, modifier};
        }
    }
    state_.assign(size, fresh);
    parent_.assign(size, -1), next_.assign(size, -1), first_.assign(size, -1);
    chosen_.resize(size);
}

// Lengthens a path from a place by its best head until it meets the root, or what has met it; false if there is no head.
bool BestArborescence::grow(std::int32_t start) {
    path_.assign(1, start);
    state_[start] = on_path;
    while (true) {
        const std::int32_t head = best_head(path_.back());
        if (head < 0) return false;
        if (head == 0 || state_[head] == done) break;
        if (state_[head] == fresh) {
            path_.push_back(head);
            state_[head] = on_path;
        } else {
            contract(head);
        }
    }
    for (const std::int32_t place : path_) state_[place] = done;
    return true;
}

std::int32_t BestArborescence::best_head(std::int32_t place) {
    std::int32_t best = -1;
    for (const std::int32_t from : active_) {
        const Arc& candidate = arc(place, from);
        if (from != place && candidate.possible() && (best < 0 || arc(place, best).weight < candidate.weight)) best = from;
    }
    if (best >= 0) {
        chosen_[node_[place]] = arc(place, best);
        entered_[place] = arc(place, best).weight;
    }
    return best;
}

// Makes one place of the path's end, from a place on: the cycle that its last arc has closed.
void BestArborescence::contract(std::int32_t place) {
    const auto cycle = static_cast<std::int32_t>(parent_.size());
    parent_.push_back(-1), next_.push_back(-1), first_.push_back(-1), chosen_.emplace_back();
    const auto begin = std::find(path_.begin(), path_.end(), place);
    for (auto it = begin; it != path_.end(); ++it) {
        parent_[node_[*it]] = cycle;
        next_[node_[*it]] = first_[cycle];
        first_[cycle] = node_[*it];
        if (*it != place) state_[*it] = done;
    }
    std::erase_if(active_, [&](std::int32_t one) { return std::find(begin + 1, path_.end(), one) != path_.end(); });
    for (const std::int32_t other : active_) {
        if (other == place) continue;
        Arc& in = arc(place, other);
        if (in.possible()) in.weight = in.weight - entered_[place];
        for (auto it = begin + 1; it != path_.end(); ++it) {
            Arc candidate = arc(*it, other);
            candidate.weight = candidate.weight - entered_[*it];
            if (candidate.possible() && (!in.possible() || in.weight < candidate.weight)) in = candidate;
            const Arc& out = arc(other, *it);
            if (out.possible() && (!arc(other, place).possible() || arc(other, place).weight < out.weight))
                arc(other, place) = out;
        }
    }
    path_.erase(begin + 1, path_.end());
    node_[place] = cycle;
}

// The arc that comes into a cycle takes the place of the one to the token that it leads to.
void BestArborescence::expand(std::int32_t* heads) {
    rest_.clear();
    for (const std::int32_t place : active_)
        if (place > 0) rest_.push_back(node_[place]);
    while (!rest_.empty()) {
        const std::int32_t top = rest_.back();
        rest_.pop_back();
        const Arc& in = chosen_[top];
        heads[in.modifier - 1] = in.head;
        for (std::int32_t node = in.modifier; node != top; node = parent_[node])
            for (std::int32_t other = first_[parent_[node]]; other >= 0; other = next_[other])
                if (other != node) rest_.push_back(other);
    }
}

}  // namespace structlearn
