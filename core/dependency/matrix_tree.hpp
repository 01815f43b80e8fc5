#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "linear/log_weights.hpp"
#include "linear/semirings.hpp"

namespace structlearn {

// How weights are added, multiplied and divided: as they are, or as logarithms.
class PlainNumbers {
public:
    static constexpr double zero = 0.0, one = 1.0;
    static double times(double a, double b) { return a * b; }
    static double over(double a, double b) { return a / b; }
    static double log(double a) { return std::log(a); }
    // Reads logarithms as weights relative to the largest of them; returns its logarithm.
    static double read(std::int64_t n, const double* logs, double* out) {
        const double top = *std::max_element(logs, logs + n);
        exponentials(n, logs, top == minus_infinity ? 0.0 : top, out);
        return top == minus_infinity ? 0.0 : top;
    }
    static double total(std::int64_t n, const double* x) {
        double sum = 0.0;
        for (std::int64_t k = 0; k < n; ++k) sum += x[k];
        return sum;
    }
    // x += c y
    static void add_times(std::int64_t n, double c, const double* y, double* x) { add_scaled(n, c, y, x); }
    // Σ x y
    static double inner(std::int64_t n, const double* x, const double* y) { return inner_product(n, x, y); }
};

class Logarithms {
public:
    static constexpr double zero = minus_infinity, one = 0.0;
    static double times(double a, double b) { return a + b; }
    static double over(double a, double b) { return a - b; }
    static double log(double a) { return a; }
    static double read(std::int64_t n, const double* logs, double* out) {
        std::copy_n(logs, n, out);
        return 0.0;
    }
    double total(std::int64_t n, const double* x) { return log_sum_.total(n, x); }
    void add_times(std::int64_t n, double c, const double* y, double* x) {
        if (zeros_.size() < static_cast<std::size_t>(n)) zeros_.resize(static_cast<std::size_t>(n), 0.0);
        log_sum_.join_shifted(n, x, 0.0, zeros_.data(), y, c, zeros_.data(), x);
    }
    double inner(std::int64_t n, const double* x, const double* y) {
        terms_.resize(static_cast<std::size_t>(n));
        for (std::int64_t k = 0; k < n; ++k) terms_[k] = x[k] + y[k];
        return log_sum_.total(n, terms_.data());
    }

private:
    LogSum log_sum_;
    std::vector<double> zeros_, terms_;
};

// Sums over the trees that hang n vertices on a root. Weights are given as logarithms, (n, n + 1) by vertex and head, the root
// first; what a vertex has for itself plays no part.
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
template <class Arithmetic>
class RootedSums {
public:
    // log Z
    double run(std::int64_t n, const double* logs, bool single) {
        n_ = n, single_ = single;
        weights_.resize(static_cast<std::size_t>(n * (n + 1)));
        double scale = 0.0;
        for (std::int64_t v = 0; v < n; ++v) {
            double* row = weights_.data() + v * (n + 1);
            scale += arithmetic_.read(n + 1, logs + v * (n + 1), row);
            row[v + 1] = Arithmetic::zero;
        }
        double* copy = room(n);
        std::copy(weights_.begin(), weights_.end(), copy);
        return scale + eliminate(copy, n, 0, copy + n * (n + 1));
    }
    // After `run` has found a finite sum: the probabilities of the heads of all vertices, (n, n + 1).
    void marginals(double* out) {
        if (n_ == 0) return;
        double* reached = room(n_);
        reach(weights_.data(), n_, reached, reached + n_ * n_);
        for (std::int64_t m = 0; m < n_; ++m)
            normalise(weights_.data() + m * (n_ + 1), reached + m * n_, out + m * (n_ + 1));
    }
    // The same for the first vertex alone, (n + 1,).
    void first_marginals(double* out) {
        double* reached = room(n_);
        if (n_ == 1)
            *reached = Arithmetic::zero;
        else
            reach_kept(weights_.data(), n_, 1, reached, reached + n_);
        normalise(weights_.data(), reached, out);
    }

private:
    // Leaves out the last vertices until some are kept. `sums` are those of the weights of each vertex's heads at its time; the
    // row of a vertex stays as it was then. Returns the logarithm of their product.
    double eliminate(double* weights, std::int64_t n, std::int64_t kept, double* sums) {
        double product = 0.0;
        for (std::int64_t v = n - 1; v >= kept; --v) {
            const double* gone = weights + v * (n + 1);
            // The last one hangs on the root.
            const std::int64_t skipped = single_ && v > 0 ? 1 : 0;
            sums[v] = arithmetic_.total(v + 1 - skipped, gone + skipped);
            if (sums[v] == Arithmetic::zero) return minus_infinity;
            product += Arithmetic::log(sums[v]);
            for (std::int64_t x = 0; x < v; ++x) {
                double* row = weights + x * (n + 1);
                if (row[v + 1] == Arithmetic::zero) continue;
                arithmetic_.add_times(v + 1, Arithmetic::over(row[v + 1], sums[v]), gone, row);
                row[x + 1] = Arithmetic::zero;
            }
        }
        return product;
    }

    // e(h) for every last vertex m, (n, n) by m and h, with zero for m itself.
    void reach(const double* weights, std::int64_t n, double* out, double* room) {
        if (n == 1) {
            *out = Arithmetic::zero;
            return;
        }
        const std::int64_t kept = (n + 1) / 2, others = n - kept;
        reach_kept(weights, n, kept, out, room);
        // The same with the halves in turn.
        double *turned = room, *found = turned + n * (n + 1);
        auto to = [&](std::int64_t v) { return v < kept ? v + others : v - kept; };
        for (std::int64_t v = 0; v < n; ++v) {
            const double* from = weights + v * (n + 1);
            double* row = turned + to(v) * (n + 1);
            row[0] = from[0];
            for (std::int64_t u = 0; u < n; ++u) row[to(u) + 1] = from[u + 1];
        }
        reach_kept(turned, n, others, found, found + others * n);
        for (std::int64_t m = 0; m < others; ++m)
            for (std::int64_t h = 0; h < n; ++h) out[(kept + m) * n + h] = found[m * n + to(h)];
    }

    // The same for the first vertices: the others are left out, and have what their heads have.
    void reach_kept(const double* weights, std::int64_t n, std::int64_t kept, double* out, double* room) {
        double *rows = room, *sums = rows + n * (n + 1), *inner = sums + n, *found = inner + kept * (kept + 1);
        std::copy_n(weights, n * (n + 1), rows);
        eliminate(rows, n, kept, sums);
        for (std::int64_t v = 0; v < kept; ++v) std::copy_n(rows + v * (n + 1), kept + 1, inner + v * (kept + 1));
        reach(inner, kept, found, found + kept * kept);
        reached_.resize(static_cast<std::size_t>(n + 1));
        reached_[0] = Arithmetic::one;
        for (std::int64_t m = 0; m < kept; ++m) {
            std::copy_n(found + m * kept, kept, reached_.begin() + 1);
            for (std::int64_t v = kept; v < n; ++v)
                reached_[v + 1] = Arithmetic::over(arithmetic_.inner(v + 1, rows + v * (n + 1), reached_.data()), sums[v]);
            std::copy_n(reached_.begin() + 1, n, out + m * n);
        }
    }

    void normalise(const double* weights, const double* reached, double* out) {
        out[0] = weights[0];
        for (std::int64_t h = 0; h < n_; ++h) out[h + 1] = Arithmetic::times(weights[h + 1], reached[h]);
        const double sum = arithmetic_.total(n_ + 1, out);
        for (std::int64_t h = 0; h <= n_; ++h) {
            const double share = Arithmetic::over(out[h], sum);
            out[h] = weights[h] == Arithmetic::zero ? 0.0 : Arithmetic::one == 0.0 ? std::exp(share) : share;
        }
    }

    // What `reach` needs: each level half as large as the one above.
    double* room(std::int64_t n) {
        std::int64_t size = 2 * (n + 1) * (n + 1);
        for (std::int64_t k = n; k > 1; k = (k + 1) / 2) size += 6 * (k + 1) * (k + 1);
        room_.resize(static_cast<std::size_t>(size));
        return room_.data();
    }

    Arithmetic arithmetic_;
    std::int64_t n_ = 0;
    bool single_ = false;
    std::vector<double> weights_, reached_, room_;
};

// Plain numbers where they can neither overflow nor vanish, which take a tenth of the time, logarithms elsewhere.
class AdaptiveSums {
public:
    double run(std::int64_t n, const double* logs, bool single) {
        plain_ = moderate(n, logs);
        return plain_ ? numbers_.run(n, logs, single) : logarithms_.run(n, logs, single);
    }
    void marginals(double* out) { plain_ ? numbers_.marginals(out) : logarithms_.marginals(out); }

private:
    // With weights of exp(−range) to 1 all that is computed is a ratio of sums over forests. If all arcs are possible, each forest
    // above the line has its like below, but for one arc; otherwise they may differ in all.
    static bool moderate(std::int64_t n, const double* logs) {
        double range = 0.0;
        bool all = true;
        for (std::int64_t v = 0; v < n; ++v) {
            double top = minus_infinity, low = -minus_infinity;
            for (std::int64_t h = 0; h <= n; ++h) {
                const double log = logs[v * (n + 1) + h];
                if (h == v + 1) continue;
                top = std::max(top, log);
                if (log > minus_infinity)
                    low = std::min(low, log);
                else
                    all = false;
            }
            range = std::max(range, top - low);
        }
        const auto vertices = static_cast<double>(n);
        return all ? range < 300.0 : vertices * (range + std::log(vertices + 1.0)) < 600.0;
    }

    bool plain_ = true;
    RootedSums<PlainNumbers> numbers_;
    RootedSums<Logarithms> logarithms_;
};

}  // namespace structlearn
