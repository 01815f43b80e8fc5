#include "vector.hpp"

namespace structlearn {

STRUCTLEARN_CLONES
void add_scaled(std::int64_t n, double a, const double* __restrict x, double* __restrict y) {
    for (std::int64_t k = 0; k < n; ++k) y[k] += a * x[k];
}

STRUCTLEARN_CLONES
void max_plus(std::int64_t n, double base, const double* __restrict row, double* __restrict best) {
    for (std::int64_t l = 0; l < n; ++l) {
        const double candidate = base + row[l];
        best[l] = best[l] < candidate ? candidate : best[l];
    }
}

}  // namespace structlearn
