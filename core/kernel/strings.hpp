#pragma once

#include <cstdint>
#include <span>

namespace structlearn {

// Σ_u Σ_{i: x[i] = u} Σ_{j: z[j] = u} decay^(ℓ(i) + ℓ(j)) over all strings u of n letters, with increasing places i and j that
// reach over ℓ(i) and ℓ(j) letters (Lodhi et al. 2002), in time n |x| |z|: of one string with each of several,
// whose letters lie one after another.
void gap_weighted(std::span<const std::int64_t> x, std::span<const std::int64_t> offsets, std::span<const std::int64_t> letters,
                  std::int64_t n, double decay, std::span<double> out);

}  // namespace structlearn
