#pragma once

#include <cstdint>

// One portable build that uses the vector units of the machine it runs on: the loader picks the clone.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(STRUCTLEARN_SANITIZE)
#define STRUCTLEARN_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define STRUCTLEARN_CLONES
#endif

namespace structlearn {

// y += a x
void add_scaled(std::int64_t n, double a, const double* x, double* y);

// best[l] = max(best[l], base + row[l])
void max_plus(std::int64_t n, double base, const double* row, double* best);

}  // namespace structlearn
