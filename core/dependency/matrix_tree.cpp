#include "dependency/matrix_tree.hpp"

#include <algorithm>

namespace structlearn {

double RootedSums::run(std::int64_t n, const double* weights, bool single) {
    n_ = n, single_ = single;
    weights_.assign(weights, weights + n * (n + 1));
    for (std::int64_t v = 0; v < n; ++v) weights_[v * (n + 1) + v + 1] = minus_infinity;
    zeros_.assign(static_cast<std::size_t>(n + 1), 0.0);
    terms_.resize(zeros_.size()), exponentials_.resize(zeros_.size());
    double* copy = room(n);
    std::copy(weights_.begin(), weights_.end(), copy);
    return eliminate(copy, n, 0, copy + n * (n + 1));
}

// Leaves out the last vertices until some are kept. `sums` are those of the weights of each vertex's heads at its time; the row of a
// vertex stays as it was then. Returns their product, as a logarithm.
double RootedSums::eliminate(double* weights, std::int64_t n, std::int64_t kept, double* sums) {
    double product = 0.0;
    for (std::int64_t v = n - 1; v >= kept; --v) {
        const double* gone = weights + v * (n + 1);
        // The last one hangs on the root.
        const std::int64_t skipped = single_ && v > 0 ? 1 : 0;
        product += sums[v] = log_sum_.total(v + 1 - skipped, gone + skipped);
        if (sums[v] == minus_infinity) return minus_infinity;
        for (std::int64_t x = 0; x < v; ++x) {
            double* row = weights + x * (n + 1);
            if (row[v + 1] == minus_infinity) continue;
            log_sum_.join_shifted(v + 1, row, 0.0, zeros_.data(), gone, row[v + 1] - sums[v], zeros_.data(), row);
            row[x + 1] = minus_infinity;
        }
    }
    return product;
}

// What `reach` needs: each level half as large as the one above.
double* RootedSums::room(std::int64_t n) {
    std::int64_t size = 2 * (n + 1) * (n + 1);
    for (std::int64_t k = n; k > 1; k = (k + 1) / 2) size += 6 * (k + 1) * (k + 1);
    room_.resize(static_cast<std::size_t>(size));
    return room_.data();
}

// log e(h) for every last vertex m, (n, n) by m and h: −∞ for m itself.
void RootedSums::reach(const double* weights, std::int64_t n, double* out, double* room) {
    if (n == 1) {
        *out = minus_infinity;
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

// The same for the first vertices: the others are left out, and hand on what their heads have.
void RootedSums::reach_kept(const double* weights, std::int64_t n, std::int64_t kept, double* out, double* room) {
    double *rows = room, *sums = rows + n * (n + 1), *inner = sums + n, *found = inner + kept * (kept + 1);
    std::copy_n(weights, n * (n + 1), rows);
    eliminate(rows, n, kept, sums);
    for (std::int64_t v = 0; v < kept; ++v) std::copy_n(rows + v * (n + 1), kept + 1, inner + v * (kept + 1));
    reach(inner, kept, found, found + kept * kept);
    for (std::int64_t m = 0; m < kept; ++m) {
        double* reached = out + m * n;
        std::copy_n(found + m * kept, kept, reached);
        for (std::int64_t v = kept; v < n; ++v) {
            const double* row = rows + v * (n + 1);
            terms_[0] = row[0];
            for (std::int64_t u = 0; u < v; ++u) terms_[u + 1] = row[u + 1] + reached[u];
            reached[v] = log_sum(v + 1, terms_.data(), exponentials_.data()) - sums[v];
        }
    }
}

void RootedSums::normalise(const double* weights, const double* reached, double* out) {
    terms_[0] = weights[0];
    for (std::int64_t h = 0; h < n_; ++h) terms_[h + 1] = weights[h + 1] + reached[h];
    exponentials(n_ + 1, terms_.data(), log_sum(n_ + 1, terms_.data(), exponentials_.data()), out);
    for (std::int64_t h = 0; h <= n_; ++h)
        if (weights[h] == minus_infinity) out[h] = 0.0;
}

void RootedSums::marginals(double* out) {
    if (n_ == 0) return;
    double* reached = room(n_);
    reach(weights_.data(), n_, reached, reached + n_ * n_);
    for (std::int64_t m = 0; m < n_; ++m)
        normalise(weights_.data() + m * (n_ + 1), reached + m * n_, out + m * (n_ + 1));
}

void RootedSums::first_marginals(double* out) {
    double* reached = room(n_);
    if (n_ == 1)
        *reached = minus_infinity;
    else
        reach_kept(weights_.data(), n_, 1, reached, reached + n_);
    normalise(weights_.data(), reached, out);
}

}  // namespace structlearn
