#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "linear/vector.hpp"

namespace structlearn {

// log Σ_k exp x[k], −∞ if every x is; the workspace has n doubles.
inline double log_sum(std::int64_t n, const double* x, double* workspace) {
    const double top = *std::max_element(x, x + n);
    if (std::isinf(top)) return top;
    exponentials(n, x, top, workspace);
    double sum = 0.0;
    for (std::int64_t k = 0; k < n; ++k) sum += workspace[k];
    return top + std::log(sum);
}

// k with probability ∝ weight[k], given a uniform number of [0, 1).
inline std::int64_t draw_weighted(std::int64_t n, const double* weight, double uniform) {
    double left = 0.0;
    for (std::int64_t k = 0; k < n; ++k) left += weight[k];
    left *= uniform;
    std::int64_t drawn = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        if (weight[k] == 0.0) continue;
        drawn = k;
        left -= weight[k];
        if (left < 0.0) break;
    }
    return drawn;
}

// k with probability ∝ exp x[k], given a uniform number of [0, 1); overwrites x.
inline std::int64_t draw(std::int64_t n, double* x, double uniform) {
    exponentials(n, x, *std::max_element(x, x + n), x);
    return draw_weighted(n, x, uniform);
}

}  // namespace structlearn
