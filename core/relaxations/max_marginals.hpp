#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/factor_graph.hpp"
#include "linear/vector.hpp"

namespace structlearn {

constexpr double infinity = -minus_infinity;

// out[o, a] = max_x in[o, x, a] + weight[x], for an array of shape (outer, n, inner). `out` may be `in`.
void max_out(std::int64_t outer, std::int64_t n, std::int64_t inner, const double* in, const double* weight,
             double* out);

// Max-marginals of one factor on one of its variables, with a score r_k(x_k) added for each of the others:
// out[x_i] = max θ_f(x) + Σ_k r_k(x_k) over the labels of the others. −∞ where nothing is allowed.
class MaxMarginals {
public:
    // Of two variables: `from` belongs to the one at `place`, `out` to the other.
    void pair(const FactorGraph& graph, std::size_t f, std::size_t place, const double* from, double* out);
    // Of any number of variables: `scores` has r_k one after another, those of `place` unused.
    void group(const FactorGraph& graph, std::size_t f, std::size_t place, const double* scores, double* out);

private:
    void table(const FactorGraph& graph, std::size_t f, std::size_t place, const double* scores, double* out);
    void cardinality(const FactorGraph& graph, std::size_t f, std::size_t place, const double* scores, double* out);

    std::vector<double> rest_, gains_;
};

}  // namespace structlearn
