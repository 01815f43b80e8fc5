#pragma once

#include <cstdint>
#include <vector>

#include "dependency/matrix_tree.hpp"

namespace structlearn {

// Sums over all trees of a sentence, crossing arcs or not: log Z and the probabilities of arcs. Scores of arcs are (n + 1, n + 1) by
// head and modifier.
//
// If the root has one modifier, it is one of the tokens from which all others can be reached, the core; they can be reached from
// nowhere else. A tree is one of the core, and one that hangs the rest on the core.
class TreeSums {
public:
    double run(std::int64_t n, bool single_root, const double* scores);
    // After `run` has found a finite sum: (n + 1, n + 1) by head and modifier.
    void marginals(double* out);

private:
    bool find_core(std::int64_t n, const double* scores);
    std::int64_t mark_reached(std::int64_t n, const double* scores, std::int64_t from, bool forward);
    void read_core(const double* scores);
    void read_rest(const double* scores);

    std::int64_t n_ = 0;
    const double* scores_ = nullptr;
    std::vector<std::int64_t> core_, rest_;  // tokens
    std::vector<std::uint8_t> reached_;
    std::vector<std::int64_t> waiting_;
    AdaptiveSums of_core_, of_rest_;
    LogSum log_sum_;
    std::vector<double> core_weights_, rest_weights_, terms_, found_;
};

}  // namespace structlearn
