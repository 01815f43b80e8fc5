#include "relaxations/clusters.hpp"

#include <algorithm>

#include "relaxations/max_marginals.hpp"

namespace structlearn {

void Clusters::restore(const State& state) {
    tables_ = state.tables;
    messages_ = state.messages;
}

std::int32_t Clusters::add_pair(const FactorGraph& graph, std::int32_t first, std::int32_t second,
                                std::int64_t factor) {
    const auto number = static_cast<std::int32_t>(pairs_.size());
    number_[key(first, second)] = number;
    pairs_.push_back({{first, second}, factor, static_cast<std::int64_t>(tables_.size())});
    if (pair_of_factor_.empty()) pair_of_factor_.assign(graph.n_factors(), -1);
    if (factor >= 0) pair_of_factor_[factor] = number;
    for (std::int32_t a = 0; a < graph.n_labels[first]; ++a)
        for (std::int32_t b = 0; b < graph.n_labels[second]; ++b) {
            const bool turned = factor >= 0 && graph.scope(factor)[0] != first;
            tables_.push_back(factor < 0 ? 0.0 : graph.pair_score(factor, turned ? b : a, turned ? a : b));
        }
    return number;
}

bool Clusters::add(const FactorGraph& graph, std::int32_t i, std::int32_t j, std::int32_t k) {
    auto& thirds = thirds_[key(i, j)];
    if (std::find(thirds.begin(), thirds.end(), k) != thirds.end()) return false;
    thirds.push_back(k);
    const std::array pairs{number_.at(key(i, j)), number_.at(key(i, k)), number_.at(key(j, k))};
    triplets_.push_back({{i, j, k}, pairs, static_cast<std::int64_t>(messages_.size())});
    of_variable_.resize(graph.n_variables());
    work_ += 0.5 * graph.n_labels[i] * graph.n_labels[j] * graph.n_labels[k];
    for (const auto a : {i, j, k}) of_variable_[a].push_back(static_cast<std::int32_t>(triplets_.size()) - 1);
    for (const auto p : pairs) messages_.resize(messages_.size() + cells(graph, pairs_[p]), 0.0);
    return true;
}

bool Clusters::has(std::int32_t i, std::int32_t j, std::int32_t k) const {
    std::array sorted{i, j, k};
    std::sort(sorted.begin(), sorted.end());
    const auto thirds = thirds_.find(key(sorted[0], sorted[1]));
    return thirds != thirds_.end() &&
           std::find(thirds->second.begin(), thirds->second.end(), sorted[2]) != thirds->second.end();
}

void Clusters::add_losses(const DualView& view, std::span<const std::int32_t> labels, std::span<double> losses) const {
    for (const auto& triplet : triplets_) {
        double loss = 0.0;
        const double* sent = messages_.data() + triplet.messages;
        for (const auto p : triplet.pairs) {
            const auto [i, j] = pairs_[p].variables;
            loss += sent[labels[i] * view.graph.n_labels[j] + labels[j]];
            sent += cells(view.graph, pairs_[p]);
        }
        for (const auto i : triplet.variables) losses[i] += loss;
    }
}

// What the messages of a pair leave of the labels of one of its variables.
const double* Clusters::left(const DualView& view, const Pair& pair, int side) {
    const auto i = pair.variables[side];
    const std::int32_t n = view.graph.n_labels[i];
    const std::uint8_t* alive = view.alive.data() + view.graph.unary_offsets[i];
    left_[side].resize(std::max<std::size_t>(left_[side].size(), n));
    double* r = left_[side].data();
    if (pair.factor < 0) {
        for (std::int32_t x = 0; x < n; ++x) r[x] = alive[x] ? 0.0 : minus_infinity;
        return r;
    }
    const double* m = view.messages.data() + view.offsets[pair.factor];
    if (side == 1) m += view.graph.n_labels[pair.variables[0]];
    for (std::int32_t x = 0; x < n; ++x) r[x] = alive[x] ? -m[x] : minus_infinity;
    return r;
}

void Clusters::collect(const DualView& view, std::size_t f, std::int32_t i, double* out) {
    const Pair& pair = pairs_[pair_of_factor_[f]];
    const std::int32_t n = view.graph.n_labels[pair.variables[0]], m = view.graph.n_labels[pair.variables[1]];
    if (pair.variables[0] == i)
        max_out(n, m, 1, tables_.data() + pair.table, left(view, pair, 1), out);
    else
        max_out(1, n, m, tables_.data() + pair.table, left(view, pair, 0), out);
}

double Clusters::chord_maxima(const DualView& view) {
    double sum = 0.0;
    for (const auto& pair : pairs_) {
        if (pair.factor >= 0) continue;
        const std::int32_t n = view.graph.n_labels[pair.variables[0]], m = view.graph.n_labels[pair.variables[1]];
        const double *a = left(view, pair, 0), *b = left(view, pair, 1), *cell = tables_.data() + pair.table;
        double top = minus_infinity;
        for (std::int32_t x = 0; x < n; ++x)
            for (std::int32_t y = 0; y < m; ++y) top = std::max(top, *cell++ + a[x] + b[y]);
        sum += top;
    }
    return sum;
}

void Clusters::sweep(const DualView& view, bool forward) {
    if (forward)
        for (auto at = triplets_.begin(); at != triplets_.end(); ++at) update(view, *at);
    else
        for (auto at = triplets_.rbegin(); at != triplets_.rend(); ++at) update(view, *at);
}

// What a pair has without the messages of one cluster.
double* Clusters::weigh(const DualView& view, const Triplet& triplet, int e) {
    const Pair& pair = pairs_[triplet.pairs[e]];
    const std::int32_t n = view.graph.n_labels[pair.variables[0]], m = view.graph.n_labels[pair.variables[1]];
    const double *a = left(view, pair, 0), *b = left(view, pair, 1), *cell = tables_.data() + pair.table;
    const double* sent = messages_.data() + triplet.messages;
    for (int before = 0; before < e; ++before) sent += cells(view.graph, pairs_[triplet.pairs[before]]);
    weighed_[e].resize(static_cast<std::size_t>(n) * m);
    double* out = weighed_[e].data();
    for (std::int32_t x = 0; x < n; ++x)
        for (std::int32_t y = 0; y < m; ++y) *out++ = *cell++ + a[x] + b[y] - *sent++;
    largest_[e].assign(weighed_[e].size(), minus_infinity);
    return weighed_[e].data();
}

void Clusters::update(const DualView& view, const Triplet& triplet) {
    const double *ij = weigh(view, triplet, 0), *ik = weigh(view, triplet, 1), *jk = weigh(view, triplet, 2);
    const auto& labels = view.graph.n_labels;
    const std::int32_t n = labels[triplet.variables[0]], m = labels[triplet.variables[1]],
                       w = labels[triplet.variables[2]];
    for (std::int32_t x = 0; x < n; ++x)
        for (std::int32_t y = 0; y < m; ++y) {
            const double base = ij[x * m + y];
            if (base == minus_infinity) continue;
            double top = minus_infinity;
            double *largest_ik = largest_[1].data() + x * w, *largest_jk = largest_[2].data() + y * w;
            for (std::int32_t z = 0; z < w; ++z) {
                const double sum = base + ik[x * w + z] + jk[y * w + z];
                top = std::max(top, sum);
                largest_ik[z] = std::max(largest_ik[z], sum);
                largest_jk[z] = std::max(largest_jk[z], sum);
            }
            largest_[0][x * m + y] = top;
        }
    double* sent = messages_.data() + triplet.messages;
    for (int e = 0; e < 3; ++e) {
        double* cell = tables_.data() + pairs_[triplet.pairs[e]].table;
        for (std::size_t c = 0; c < weighed_[e].size(); ++c, ++cell, ++sent) {
            // Cells that the labels left do not allow keep their messages, for when labels come back.
            if (largest_[e][c] == minus_infinity) continue;
            const double fresh = largest_[e][c] / 3.0 - weighed_[e][c];
            *cell += fresh - *sent;
            *sent = fresh;
        }
    }
}

}  // namespace structlearn
