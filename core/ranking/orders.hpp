#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace structlearn {

// Documents 0 … n − 1 with higher tiers before lower ones (if there are tiers), then with larger keys before smaller
// ones; what is equal keeps its order.
inline void rank(const std::int32_t* tiers, const double* keys, std::int64_t n, std::int32_t* order) {
    std::iota(order, order + n, 0);
    std::stable_sort(order, order + n, [&](std::int32_t a, std::int32_t b) {
        if (tiers && tiers[a] != tiers[b]) return tiers[a] > tiers[b];
        return keys[a] > keys[b];
    });
}

// Counts the pairs of documents that an order has in reverse, in O(n log G) for G grades.
class SwappedPairs {
   public:
    // An order is of n documents, or of 2n items: i in its role as the better document of a pair, n + j in that as the
    // worse one. `above[i]` is the number of documents of a lower grade that stand before i, `below[j]` that of
    // documents of a higher grade that stand after j. Grades are 0, 1, …, at most n − 1.
    void count(const std::int32_t* order, std::int64_t length, const std::int32_t* grades, std::int64_t n, double* above,
               double* below) {
        const bool both = length == n;
        begin(n);
        for (std::int64_t p = 0; p < length; ++p) {
            const std::int32_t item = order[p];
            if (both || item >= n) add(grades[item % n]);
            if (item < n) above[item] = static_cast<double>(lower(grades[item]));
        }
        begin(n);
        std::int64_t seen = 0;
        for (std::int64_t p = length; p-- > 0;) {
            const std::int32_t item = order[p];
            if (item < n) {
                add(grades[item]);
                ++seen;
            }
            if (both || item >= n)
                below[item % n] = static_cast<double>(seen - lower(grades[item % n] + 1));
        }
    }

   private:
    void begin(std::int64_t n) { tree_.assign(static_cast<std::size_t>(n) + 1, 0); }

    void add(std::int64_t grade) {
        for (std::size_t k = static_cast<std::size_t>(grade) + 1; k < tree_.size(); k += k & -k) ++tree_[k];
    }

    // How many of those added have a lower grade.
    std::int64_t lower(std::int64_t grade) const {
        std::int64_t count = 0;
        for (std::size_t k = static_cast<std::size_t>(grade); k > 0; k -= k & -k) count += tree_[k];
        return count;
    }

    std::vector<std::int64_t> tree_;  // Fenwick 1994
};

}  // namespace structlearn
