#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dependency/matrix_tree.hpp"
#include "linear/log_weights.hpp"

namespace structlearn {

// Draws trees that hang n vertices on a root with probability ∝ the product of their weights; these are as in RootedSums.
//
// Walks whose loops are erased (Wilson 1996), each from a vertex to one of its heads by their weights until it meets the tree, are
// fast where walks come to the root soon. How many steps they take says nothing about the tree (Propp and Wilson 1998), so that it
// is no bias to give up after many. Then heads are drawn one after another, each by its probability given those before: O(n⁴).
class TreeSampler {
public:
    // Writes the head of every vertex: 0 for the root, v + 1 for vertex v.
    template <class Uniform>
    void run(std::int64_t n, const double* weights, Uniform&& uniform, std::int32_t* heads) {
        if (!walk(n, weights, uniform, heads)) draw_in_turn(n, weights, uniform, heads);
    }

    template <class Uniform>
    bool walk(std::int64_t n, const double* weights, Uniform& uniform, std::int32_t* heads) {
        shares_.resize(static_cast<std::size_t>(n * (n + 1)));
        for (std::int64_t v = 0; v < n; ++v) {
            const double* row = weights + v * (n + 1);
            exponentials(n + 1, row, *std::max_element(row, row + n + 1), shares_.data() + v * (n + 1));
            shares_[v * (n + 1) + v + 1] = 0.0;
        }
        in_tree_.assign(static_cast<std::size_t>(n + 1), 0);
        in_tree_[0] = 1;
        std::int64_t steps = 0;
        for (std::int64_t start = 1; start <= n; ++start) {
            for (std::int64_t v = start; !in_tree_[v]; v = heads[v - 1]) {
                if (++steps > 8 * (n + 1) * (n + 1)) return false;
                const double* row = shares_.data() + (v - 1) * (n + 1);
                heads[v - 1] = static_cast<std::int32_t>(draw_weighted(n + 1, row, uniform()));
            }
            for (std::int64_t v = start; !in_tree_[v]; v = heads[v - 1]) in_tree_[v] = 1;
        }
        return true;
    }

    // A vertex that has its head becomes one with it. What hangs on the root, or on a vertex without head, is a group of heads for
    // the others.
    template <class Uniform>
    void draw_in_turn(std::int64_t n, const double* weights, Uniform& uniform, std::int32_t* heads) {
        group_.resize(static_cast<std::size_t>(n + 1)), members_.resize(group_.size()), terms_.resize(group_.size());
        for (std::int64_t h = 0; h <= n; ++h) group_[h] = h;
        for (std::int64_t left = n; left > 0; --left) {
            // Vertices 1, …, left have no head yet; the last one is asked first.
            merged_.assign(static_cast<std::size_t>(left * (left + 1)), minus_infinity);
            auto place = [&](std::int64_t v) { return v == 0 ? 0 : left - v + 1; };
            for (std::int64_t v = 1; v <= left; ++v)
                for (std::int64_t h = 0; h <= left; ++h)
                    merged_[(place(v) - 1) * (left + 1) + place(h)] = v == h ? minus_infinity : of_group(n, weights, v, h);
            sums_.run(left, merged_.data(), false);
            found_.resize(static_cast<std::size_t>(left + 1));
            sums_.first_marginals(found_.data());
            const std::int64_t drawn = draw_weighted(left + 1, found_.data(), uniform());
            const std::int64_t head_group = drawn == 0 ? 0 : left - drawn + 1;
            const std::int64_t count = gather(n, weights, left, head_group);
            heads[left - 1] = static_cast<std::int32_t>(members_[draw(count, terms_.data(), uniform())]);
            for (std::int64_t& group : group_)
                if (group == left) group = head_group;
        }
    }

private:
    // The heads of a group, with the weights of their arcs to a vertex; how many they are.
    std::int64_t gather(std::int64_t n, const double* weights, std::int64_t v, std::int64_t group) {
        std::int64_t count = 0;
        for (std::int64_t h = 0; h <= n; ++h)
            if (group_[h] == group) members_[count] = h, terms_[count++] = weights[(v - 1) * (n + 1) + h];
        return count;
    }
    double of_group(std::int64_t n, const double* weights, std::int64_t v, std::int64_t group) {
        const std::int64_t count = gather(n, weights, v, group);
        return log_sum_.total(count, terms_.data());
    }

    RootedSums<Logarithms> sums_;
    LogSum log_sum_;
    std::vector<std::uint8_t> in_tree_;
    std::vector<std::int64_t> group_, members_;
    std::vector<double> shares_, merged_, found_, terms_;
};

}  // namespace structlearn
