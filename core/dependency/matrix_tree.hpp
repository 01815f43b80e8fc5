#pragma once

#include <cstdint>
#include <vector>

#include "linear/log_weights.hpp"
#include "linear/semirings.hpp"

namespace structlearn {

// Sums over the trees that hang n vertices on a root. Weights are logarithms, (n, n + 1) by vertex and head, the root first; what
// a vertex has for itself plays no part.
//
// By the matrix-tree theorem they are determinants (Koo et al. 2007; Smith and Smith 2007; McDonald and Satta 2007). Elimination
// needs no differences here (Grassmann, Taksar and Heyman 1985): to leave out vertex v, with the sum d of the weights of its
// heads, makes w(u → x) + w(u → v) w(v → x) / d the weight of the arc from u to x, and Z is the product of all d. So logarithms
// will do, of weights as different as they may be, and nothing is ill-conditioned.
//
// The head of vertex m is h with probability ∝ w(h → m) e(h), where e(h) is the probability that a walk from h, from each vertex
// to one of its heads by their weights, comes to the root before it comes to m. These follow from eliminations that leave m to the
// last, which halves of the vertices share: O(n³) for all.
//
// `single` sums over trees in which the root has one child. They are the first-order term in the weights of the root's arcs, which
// are left out of d then; every vertex must be reached from every other.
class RootedSums {
public:
    double run(std::int64_t n, const double* weights, bool single);
    // After `run` has found a finite sum: the probabilities of the heads of all vertices, (n, n + 1).
    void marginals(double* out);
    // The same for the first vertex alone, (n + 1,).
    void first_marginals(double* out);

private:
    double eliminate(double* weights, std::int64_t n, std::int64_t kept, double* sums);
    void reach(const double* weights, std::int64_t n, double* out, double* room);
    void reach_kept(const double* weights, std::int64_t n, std::int64_t kept, double* out, double* room);
    double* room(std::int64_t n);
    void normalise(const double* weights, const double* reached, double* out);

    std::int64_t n_ = 0;
    bool single_ = false;
    LogSum log_sum_;
    std::vector<double> weights_, zeros_, terms_, exponentials_, room_;
};

}  // namespace structlearn
