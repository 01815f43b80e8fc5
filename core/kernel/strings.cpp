#include "kernel/strings.hpp"

#include <algorithm>
#include <vector>

#include "batch/ragged.hpp"

namespace structlearn {

namespace {

// `table` holds, for each two places, the sum over pairs of subsequences that end there; after a step, of such with a letter more.
void longer(std::span<const std::int64_t> x, std::span<const std::int64_t> z, double decay, std::vector<double>& table,
            std::vector<double>& before) {
    before.assign(z.size(), 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
        double* row = table.data() + i * z.size();
        double left = 0.0;
        // Of what ends before both letters, a factor for each letter in between.
        for (std::size_t j = 0; j < z.size(); ++j) {
            const double ending = row[j];
            row[j] = x[i] == z[j] ? decay * decay * before[j] : 0.0;
            before[j] = decay * before[j] + left;
            left = decay * left + ending;
        }
    }
}

double of_pair(std::span<const std::int64_t> x, std::span<const std::int64_t> z, std::int64_t n, double decay,
               std::vector<double>& table, std::vector<double>& before) {
    if (static_cast<std::int64_t>(std::min(x.size(), z.size())) < n) return 0.0;
    table.resize(x.size() * z.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < z.size(); ++j) table[i * z.size() + j] = x[i] == z[j] ? decay * decay : 0.0;
    for (std::int64_t letters = 1; letters < n; ++letters) longer(x, z, decay, table, before);
    double sum = 0.0;
    for (const double ending : table) sum += ending;
    return sum;
}

}  // namespace

void gap_weighted(std::span<const std::int64_t> x, std::span<const std::int64_t> offsets, std::span<const std::int64_t> letters,
                  std::int64_t n, double decay, std::span<double> out) {
    const Ragged strings(offsets);
    std::vector<double> table, before;
    for (std::size_t k = 0; k < out.size(); ++k)
        out[k] = of_pair(x, strings.of(letters, static_cast<std::int64_t>(k)), n, decay, table, before);
}

}  // namespace structlearn
