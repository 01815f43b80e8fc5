#include "relaxations/max_marginals.hpp"

#include <algorithm>
#include <functional>

namespace structlearn {

namespace {

[[gnu::always_inline]] inline double larger(double a, double b) { return a < b ? b : a; }

// Labels that are equal score `equal`, others 0.
void potts(std::int64_t n, double equal, const double* from, double* out) {
    std::int64_t top = 0;
    double second = minus_infinity;
    for (std::int64_t a = 1; a < n; ++a) {
        if (from[a] > from[top]) {
            second = from[top];
            top = a;
        } else {
            second = larger(second, from[a]);
        }
    }
    for (std::int64_t b = 0; b < n; ++b) out[b] = larger(from[b] + equal, b == top ? second : from[top]);
}

// The upper envelope of cones, in one sweep to each side.
void truncated_linear(std::int64_t n, double slope, double most, const double* from, double* out) {
    double top = out[0] = from[0];
    for (std::int64_t b = 1; b < n; ++b) {
        top = larger(top, from[b]);
        out[b] = larger(from[b], out[b - 1] - slope);
    }
    for (std::int64_t b = n - 1; b-- > 0;) out[b] = larger(out[b], out[b + 1] - slope);
    for (std::int64_t b = 0; b < n; ++b) out[b] = larger(out[b], top - most);
}

}  // namespace

STRUCTLEARN_CLONES
void max_out(std::int64_t outer, std::int64_t n, std::int64_t inner, const double* in, const double* weight,
             double* out) {
    if (inner == 1) {
        for (std::int64_t o = 0; o < outer; ++o, in += n) {
            double best[4] = {minus_infinity, minus_infinity, minus_infinity, minus_infinity};
            std::int64_t x = 0;
            for (; x + 4 <= n; x += 4)
                for (int k = 0; k < 4; ++k) best[k] = larger(best[k], in[x + k] + weight[x + k]);
            for (; x < n; ++x) best[0] = larger(best[0], in[x] + weight[x]);
            out[o] = larger(larger(best[0], best[1]), larger(best[2], best[3]));
        }
        return;
    }
    for (std::int64_t o = 0; o < outer; ++o) {
        double* best = out + o * inner;
        const double* row = in + o * n * inner;
        for (std::int64_t a = 0; a < inner; ++a) best[a] = row[a] + weight[0];
        for (std::int64_t x = 1; x < n; ++x) {
            row += inner;
            if (weight[x] == minus_infinity) continue;
            for (std::int64_t a = 0; a < inner; ++a) best[a] = larger(best[a], row[a] + weight[x]);
        }
    }
}

void MaxMarginals::pair(const FactorGraph& graph, std::size_t f, std::size_t place, const double* from, double* out) {
    const double* v = graph.value(f);
    const auto scope = graph.scope(f);
    const std::int64_t n = graph.n_labels[scope[0]], m = graph.n_labels[scope[1]];
    switch (graph.kind(f)) {
        case FactorKind::table:
            if (n == 2 && m == 2) {
                const std::size_t step = place == 0 ? 2 : 1, other = 3 - step;
                out[0] = larger(from[0] + v[0], from[1] + v[step]);
                out[1] = larger(from[0] + v[other], from[1] + v[3]);
            } else if (place == 0) {
                max_out(1, n, m, v, from, out);
            } else {
                max_out(n, m, 1, v, from, out);
            }
            break;
        case FactorKind::potts: potts(n, v[0], from, out); break;
        case FactorKind::truncated_linear: truncated_linear(n, v[0], v[1], from, out); break;
        case FactorKind::cardinality:
            out[0] = larger(from[0] + v[0], from[1] + v[1]);
            out[1] = larger(from[0] + v[1], from[1] + v[2]);
            break;
    }
}

void MaxMarginals::group(const FactorGraph& graph, std::size_t f, std::size_t place, const double* scores,
                         double* out) {
    if (graph.kind(f) == FactorKind::cardinality)
        cardinality(graph, f, place, scores, out);
    else
        table(graph, f, place, scores, out);
}

// One variable after another is maximised out, those behind `place` first.
void MaxMarginals::table(const FactorGraph& graph, std::size_t f, std::size_t place, const double* scores,
                         double* out) {
    const auto scope = graph.scope(f);
    const double* end = scores;
    for (const auto i : scope) end += graph.n_labels[i];
    std::int64_t outer = static_cast<std::int64_t>(graph.table_size(f)), inner = 1;
    rest_.resize(static_cast<std::size_t>(outer));
    const double* in = graph.value(f);
    for (std::size_t k = scope.size(); k-- > 0;) {
        const std::int64_t n = graph.n_labels[scope[k]];
        outer /= n;
        end -= n;
        if (k == place) {
            inner = n;
            continue;
        }
        max_out(outer, n, inner, in, end, rest_.data());
        in = rest_.data();
    }
    std::copy(rest_.begin(), rest_.begin() + inner, out);
}

// The best with c ones among the others takes those that gain most by it; of these there may be no more than the largest
// count that is allowed.
void MaxMarginals::cardinality(const FactorGraph& graph, std::size_t f, std::size_t place, const double* scores,
                               double* out) {
    const double* v = graph.value(f);
    const std::size_t n = graph.scope(f).size();
    gains_.clear();
    double sum = 0.0;
    std::size_t ones = 0;
    for (std::size_t k = 0; k < n; ++k) {
        if (k == place) continue;
        const double off = scores[2 * k], on = scores[2 * k + 1];
        if (off == minus_infinity) {
            sum += on;
            ++ones;
        } else {
            sum += off;
            if (on != minus_infinity) gains_.push_back(on - off);
        }
    }
    std::size_t most = n;
    while (most > ones && v[most] == minus_infinity) --most;
    const auto end = gains_.begin() + std::min(gains_.size(), most - ones);
    if (8 * (end - gains_.begin()) < gains_.end() - gains_.begin())
        std::partial_sort(gains_.begin(), end, gains_.end(), std::greater<>());
    else
        std::sort(gains_.begin(), gains_.end(), std::greater<>());
    out[0] = sum + v[ones];
    out[1] = sum + v[ones + 1];
    for (auto gain = gains_.begin(); gain != end; ++gain) {
        sum += *gain;
        ++ones;
        out[0] = larger(out[0], sum + v[ones]);
        out[1] = larger(out[1], sum + v[ones + 1]);
    }
}

}  // namespace structlearn
