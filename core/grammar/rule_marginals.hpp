#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace structlearn {

// How often each rule is expected on the words begin, …, end − 1 of a sentence, if its children meet at the split: rows (rule,
// begin, split, end), one after another, with a split of −1 for unary rules, and the numbers; those that are zero are left out.
template <class Problem>
std::tuple<std::vector<std::int64_t>, std::vector<double>> rule_marginals(const Problem& problem, std::span<const double> w,
                                                                          std::int64_t i) {
    Problem worker = problem;
    worker.prepare(w.data());
    std::vector<std::int64_t> rows;
    std::vector<double> numbers;
    worker.structure.each_expected_rule(
        i, worker.local(i),
        [&](std::int64_t rule, std::int64_t begin, std::int64_t split, std::int64_t end, double number) {
            rows.insert(rows.end(), {rule, begin, split, end});
            numbers.push_back(number);
        });
    return {std::move(rows), std::move(numbers)};
}

}  // namespace structlearn
