#include "relaxations/cycles.hpp"

#include <algorithm>
#include <cmath>

namespace structlearn {

namespace {

// Longer cycles are not looked for.
constexpr std::int32_t longest = 12;
// Of the heaviest edge: contradictions that are weaker are left alone.
constexpr double weakest = 1e-5;
// Of cells that are looked at for the weights of edges.
constexpr double most_cost = 3e8;
// Where there are more, only those whose labels are decided least are looked at: others contradict nothing.
constexpr std::size_t most_variables = 100000;
// Joint labels of a cluster, each of which costs time in every pass.
constexpr std::int64_t most_cells = std::int64_t{1} << 20;

// Labels of one variable are several nodes, so that a way may meet it twice.
bool is_simple(std::vector<std::int32_t> cycle) {
    std::sort(cycle.begin(), cycle.end());
    return cycle.size() > 2 && std::adjacent_find(cycle.begin(), cycle.end()) == cycle.end();
}

}  // namespace

CycleFinder::CycleFinder(DualAscent& dual, const std::vector<double>& sent, Charge charge)
    : dual_(dual), graph_(dual.graph()), sent_(sent), charge_(charge) {
    find_losses();
    choose_nodes();
    edges_.resize(variables_.size());
    for (std::size_t f = 0; f < graph_.n_factors(); ++f) {
        const auto scope = graph_.scope(f);
        if (scope.size() != 2 || !has_nodes(scope[0]) || !has_nodes(scope[1])) continue;
        const std::uint64_t low = std::min(scope[0], scope[1]), high = std::max(scope[0], scope[1]);
        if (factors_.try_emplace(low << 32 | high, static_cast<std::int64_t>(f)).second) add_edges(f);
    }
    for (auto& edges : edges_)
        std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.weight > b.weight; });
}

void CycleFinder::find_losses() {
    losses_.assign(graph_.unaries.begin(), graph_.unaries.end());
    n_pairs_.assign(graph_.n_variables(), 0);
    for (std::size_t i = 0; i < graph_.n_variables(); ++i) add_messages(i);
    for (std::size_t f = 0; f < graph_.n_factors() && charge_ == Charge::all; ++f) {
        if (graph_.scope(f).size() != 2) continue;
        const auto [i, j] = weigh(f);
        double *loss_i = losses_.data() + graph_.unary_offsets[i], *loss_j = losses_.data() + graph_.unary_offsets[j];
        for (std::size_t x = 0; x < rows_.size(); ++x) loss_i[x] += rows_[x];
        for (std::size_t y = 0; y < columns_.size(); ++y) loss_j[y] += columns_[y];
    }
    for (std::size_t i = 0; i < graph_.n_variables(); ++i) {
        double* loss = losses_.data() + graph_.unary_offsets[i];
        const double top = *std::max_element(loss, loss + graph_.n_labels[i]);
        for (std::int32_t x = 0; x < graph_.n_labels[i]; ++x) loss[x] = loss[x] == minus_infinity ? loss[x] : loss[x] - top;
    }
}

// What the messages leave at a variable.
void CycleFinder::add_messages(std::size_t i) {
    double* h = losses_.data() + graph_.unary_offsets[i];
    const auto alive = dual_.alive(i);
    for (auto slot = dual_.adjacency_.offsets[i]; slot < dual_.adjacency_.offsets[i + 1]; ++slot) {
        const std::size_t f = dual_.adjacency_.factors[slot], place = dual_.adjacency_.places[slot];
        const auto scope = graph_.scope(f);
        const bool sender = dual_.one_vector(f) && static_cast<std::int32_t>(i) < scope[1 - place];
        const double* m = sender ? sent_.data() + dual_.offsets_[f] : dual_.message(f, place);
        for (std::size_t x = 0; x < alive.size(); ++x) h[x] += sender ? -m[x] : m[x];
        n_pairs_[i] += scope.size() == 2;
    }
    for (std::size_t x = 0; x < alive.size(); ++x)
        if (!alive[x]) h[x] = minus_infinity;
}

void CycleFinder::choose_nodes() {
    double cost = 0.0;
    for (std::size_t f = 0; f < graph_.n_factors(); ++f)
        if (graph_.scope(f).size() == 2) cost += std::pow(static_cast<double>(graph_.table_size(f)), 2);
    std::vector<double> margins(graph_.n_variables());
    for (std::size_t i = 0; i < margins.size(); ++i) margins[i] = margin(i);
    double widest = infinity;
    if (margins.size() > most_variables) {
        auto sorted = margins;
        std::nth_element(sorted.begin(), sorted.begin() + most_variables, sorted.end());
        widest = sorted[most_variables];
    }
    first_node_.push_back(0);
    for (std::size_t i = 0; i < margins.size(); ++i) {
        if (margins[i] <= widest) add_nodes(i, cost < most_cost);
        first_node_.push_back(static_cast<std::int64_t>(variables_.size()));
    }
}

// By how much the best label of a variable is better than the next.
double CycleFinder::margin(std::size_t i) const {
    double top = minus_infinity, second = minus_infinity;
    for (auto place = graph_.unary_offsets[i]; place < graph_.unary_offsets[i + 1]; ++place) {
        second = std::max(second, std::min(top, losses_[place]));
        top = std::max(top, losses_[place]);
    }
    return second == minus_infinity ? infinity : top - second;
}

// A variable of two labels has one node, others one for each of their labels, or for the two best where all are too many.
void CycleFinder::add_nodes(std::size_t i, bool all) {
    const double* h = losses_.data() + graph_.unary_offsets[i];
    std::vector<std::int32_t> order;
    for (std::int32_t x = 0; x < graph_.n_labels[i]; ++x)
        if (h[x] > minus_infinity) order.push_back(x);
    if (order.size() < 2) return;
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return h[a] > h[b]; });
    const std::size_t kept = order.size() == 2 ? 1 : all ? order.size() : 2;
    for (std::size_t k = 0; k < kept; ++k) {
        variables_.push_back(static_cast<std::int32_t>(i));
        choices_.push_back(order[k]);
    }
}

// The scores of a pair as the messages leave them, with their maxima for each label of its two variables, of which that of
// lower number stands first.
std::pair<std::int32_t, std::int32_t> CycleFinder::weigh(std::size_t f) {
    const auto scope = graph_.scope(f);
    const bool turned = scope[0] > scope[1];
    const std::int32_t i = scope[turned], j = scope[1 - turned], n = graph_.n_labels[i], m = graph_.n_labels[j];
    const bool one = dual_.one_vector(f);
    const double* table = one ? nullptr : dual_.clusters_.table(f);
    const double* to_i = one ? sent_.data() + dual_.offsets_[f] : dual_.message(f, turned);
    const double* to_j = dual_.message(f, 1 - turned);
    const auto alive_i = dual_.alive(i), alive_j = dual_.alive(j);
    cells_.resize(static_cast<std::size_t>(n) * m);
    rows_.assign(n, minus_infinity);
    columns_.assign(m, minus_infinity);
    double* cell = cells_.data();
    for (std::int32_t x = 0; x < n; ++x)
        for (std::int32_t y = 0; y < m; ++y, ++cell) {
            *cell = minus_infinity;
            if (!alive_i[x] || !alive_j[y]) continue;
            const double score = one ? graph_.pair_score(f, turned ? y : x, turned ? x : y) : table[x * m + y];
            *cell = score + (one ? to_i[x] : -to_i[x]) - to_j[y];
            rows_[x] = std::max(rows_[x], *cell);
            columns_[y] = std::max(columns_[y], *cell);
        }
    return {i, j};
}

// Adds to the scores of a pair what its labels lose elsewhere.
void CycleFinder::add_other_losses(std::int32_t i, std::int32_t j) {
    const auto charge = [&](std::int32_t variable, std::vector<double>& own) {
        const double* loss = losses_.data() + graph_.unary_offsets[variable];
        for (std::size_t x = 0; x < own.size(); ++x)
            own[x] = charge_ == Charge::share ? loss[x] / n_pairs_[variable] : loss[x] - own[x];
    };
    charge(i, rows_);
    charge(j, columns_);
    double* cell = cells_.data();
    for (const double first : rows_)
        for (const double second : columns_) {
            if (*cell != minus_infinity) *cell += first + second;
            ++cell;
        }
}

void CycleFinder::add_edges(std::size_t f) {
    const auto [i, j] = weigh(f);
    add_other_losses(i, j);
    const std::int32_t n = graph_.n_labels[i], m = graph_.n_labels[j];
    for (auto u = first_node_[i]; u < first_node_[i + 1]; ++u)
        for (auto v = first_node_[j]; v < first_node_[j + 1]; ++v) {
            double best[2] = {minus_infinity, minus_infinity};
            for (std::int32_t x = 0; x < n; ++x)
                for (std::int32_t y = 0; y < m; ++y) {
                    double& one = best[(x == choices_[u]) == (y == choices_[v])];
                    one = std::max(one, cells_[static_cast<std::size_t>(x) * m + y]);
                }
            const double weight = std::abs(best[1] - best[0]);
            if (!(weight > 0.0)) continue;
            edges_[u].push_back({static_cast<std::int32_t>(v), best[1] < best[0], weight});
            edges_[v].push_back({static_cast<std::int32_t>(u), best[1] < best[0], weight});
            if (std::isfinite(weight)) heaviest_ = std::max(heaviest_, weight);
        }
}

std::vector<std::vector<std::int32_t>> CycleFinder::cycles(std::size_t most) {
    parents_.assign(2 * variables_.size(), -1);
    depths_.assign(2 * variables_.size(), -1);
    for (double least = heaviest_; least > weakest * heaviest_ && n_triplets_ < most; least *= 0.5)
        for (std::size_t u = 0; u < variables_.size() && n_triplets_ < most; ++u)
            search(static_cast<std::int32_t>(u), least);
    return std::move(found_);
}

// The shortest way from a node back to itself over an odd number of negative edges; 2u and 2u + 1 are the node u after an
// even and an odd number of them.
void CycleFinder::search(std::int32_t start, double least) {
    for (const auto at : reached_) depths_[at] = -1;
    reached_.assign(1, 2 * start);
    depths_[2 * start] = 0;
    for (std::size_t k = 0; k < reached_.size(); ++k) {
        const auto at = reached_[k];
        if (depths_[at] == longest) return;
        for (const auto& edge : edges_[at / 2]) {
            if (edge.weight < least) break;
            const std::int32_t next = 2 * edge.node + ((at & 1) ^ static_cast<std::int32_t>(edge.negative));
            if (depths_[next] >= 0) continue;
            if (next == 2 * start + 1) {
                auto cycle = way(at, 2 * start);
                if (is_simple(cycle)) return keep(std::move(cycle));
                // Longer ways than that say little, and are taken where nothing else is left.
                if (charge_ == Charge::share) return;
                continue;
            }
            depths_[next] = depths_[at] + 1;
            parents_[next] = at;
            reached_.push_back(next);
        }
    }
}

// The variables between two places of the search.
std::vector<std::int32_t> CycleFinder::way(std::int32_t at, std::int32_t from) const {
    std::vector<std::int32_t> found{variables_[at / 2]};
    while (at != from) {
        at = parents_[at];
        found.push_back(variables_[at / 2]);
    }
    return found;
}

// Each cycle once, whatever node it was found from.
void CycleFinder::keep(std::vector<std::int32_t> cycle) {
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    if (cycle[1] > cycle.back()) std::reverse(cycle.begin() + 1, cycle.end());
    for (std::size_t k = 2; k < cycle.size(); ++k) {
        std::int64_t cells = 1;
        for (const auto i : {cycle[0], cycle[k - 1], cycle[k]}) cells *= graph_.n_labels[i];
        if (cells > most_cells) return;
    }
    if (!known_.insert(cycle).second) return;
    for (std::size_t k = 2; k < cycle.size(); ++k)
        if (!dual_.clusters_.has(cycle[0], cycle[k - 1], cycle[k])) ++n_triplets_;
    found_.push_back(std::move(cycle));
}

}  // namespace structlearn
