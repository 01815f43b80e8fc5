#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "graph/factor_graph.hpp"

namespace structlearn {

// The factors, taken in this order, that join variables which are not joined yet: without cycles, and as many as can be.
inline std::vector<std::int64_t> acyclic_factors(const FactorGraph& graph, std::span<const std::int64_t> order) {
    std::vector<std::int32_t> parent(graph.n_variables());
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](std::int32_t i) {
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    };
    std::vector<std::int64_t> chosen;
    std::vector<std::int32_t> roots;
    for (const auto f : order) {
        roots.clear();
        for (const auto i : graph.scope(f)) roots.push_back(root(i));
        std::sort(roots.begin(), roots.end());
        if (std::adjacent_find(roots.begin(), roots.end()) != roots.end()) continue;
        for (const auto other : roots) parent[other] = roots[0];
        chosen.push_back(f);
    }
    return chosen;
}

}  // namespace structlearn
