#include "graph/forest_moves.hpp"

#include <cmath>

#include "linear/vector.hpp"

namespace structlearn {

namespace {

constexpr std::size_t largest_ball = 400;
// Forests in one move, at most.
constexpr std::uint64_t most_forests = 16;
// Times the size of the graph: work without gain before everything begins anew.
constexpr std::int64_t patience = 600;

}  // namespace

ForestMoves::ForestMoves(const FactorGraph& graph, const Adjacency& adjacency, std::uint64_t seed)
    : graph_(graph),
      adjacency_(adjacency),
      random_(seed),
      labels_(graph.n_variables(), 0),
      best_(labels_),
      place_(graph.n_variables(), -1),
      in_ball_(graph.n_variables(), 0),
      counted_(graph.n_factors(), 0) {
    double largest = 1.0;
    for (const auto values : {graph.values, graph.unaries})
        for (const double value : values)
            if (std::abs(value) < 1e100) largest = std::max(largest, std::abs(value));
    penalty_ = 1e3 * largest;
    best_score_ = score_ = penalised_score();
}

void ForestMoves::start(std::span<const std::int32_t> labels) {
    labels_.assign(labels.begin(), labels.end());
    best_ = labels_;
    best_score_ = score_ = penalised_score();
    idle_ = 0;
}

bool ForestMoves::run(std::int64_t work) {
    bool better = false;
    if (graph_.n_variables() == 0) return better;
    for (work_ = 0; work_ < work;) {
        const auto before = work_;
        const bool gained = move();
        idle_ = gained ? 0 : idle_ + work_ - before;
        if (gained && score_ > best_score_) {
            best_score_ = score_;
            best_ = labels_;
            better = true;
        }
        if (idle_ > patience * static_cast<std::int64_t>(graph_.scopes.size() + graph_.unaries.size())) restart();
    }
    return better;
}

void ForestMoves::restart() {
    for (std::size_t i = 0; i < labels_.size(); ++i)
        labels_[i] = static_cast<std::int32_t>(random_() % graph_.n_labels[i]);
    score_ = penalised_score();
    idle_ = 0;
}

double ForestMoves::penalised_score() const {
    double sum = 0.0;
    for (std::size_t i = 0; i < labels_.size(); ++i) sum += finite(graph_.unary(i)[labels_[i]]);
    for (std::size_t f = 0; f < graph_.n_factors(); ++f) {
        const auto scope = graph_.scope(f);
        sum += factor_score(f, [&](std::size_t k) { return labels_[scope[k]]; });
    }
    return sum;
}

// Σ of what the labels of the ball are in.
double ForestMoves::local_score() {
    ++round_;
    double sum = 0.0;
    for (const auto i : ball_) {
        sum += finite(graph_.unary(i)[labels_[i]]);
        for (const auto f : adjacency_.of(i)) {
            if (counted_[f] == round_) continue;
            counted_[f] = round_;
            const auto scope = graph_.scope(f);
            sum += factor_score(f, [&](std::size_t k) { return labels_[scope[k]]; });
        }
    }
    return sum;
}

bool ForestMoves::move() {
    choose_ball();
    before_.clear();
    for (const auto i : ball_) before_.push_back(labels_[i]);
    const double before = local_score();
    for (const auto i : ball_) labels_[i] = static_cast<std::int32_t>(random_() % graph_.n_labels[i]);
    for (auto left = 1 + random_() % most_forests; left > 0; --left) optimise_forest();
    const double gain = local_score() - before;
    if (gain < 0.0)
        for (std::size_t k = 0; k < ball_.size(); ++k) labels_[ball_[k]] = before_[k];
    else
        score_ += gain;
    return gain > 1e-12 * std::abs(before);
}

// A random number of variables around one, near ones first.
void ForestMoves::choose_ball() {
    const double most = static_cast<double>(std::min(largest_ball, graph_.n_variables()));
    const double u = std::uniform_real_distribution<double>(0.0, 1.0)(random_);
    const auto size = static_cast<std::size_t>(std::ceil(std::pow(most, u)));
    ball_.assign(1, static_cast<std::int32_t>(random_() % graph_.n_variables()));
    in_ball_[ball_[0]] = 1;
    for (std::size_t k = 0; k < ball_.size() && ball_.size() < size; ++k) {
        const auto factors = adjacency_.of(ball_[k]);
        const std::size_t shift = factors.empty() ? 0 : random_() % factors.size();
        for (std::size_t step = 0; step < factors.size() && ball_.size() < size; ++step)
            for (const auto j : graph_.scope(factors[(step + shift) % factors.size()])) {
                if (in_ball_[j] || ball_.size() == size) continue;
                in_ball_[j] = 1;
                ball_.push_back(j);
            }
    }
    for (const auto i : ball_) in_ball_[i] = 0;
}

// The other variable of a factor that is in the forest; −1 for none, −2 for several.
std::int32_t ForestMoves::free_member(std::size_t f, std::int32_t i) const {
    std::int32_t found = -1;
    for (const auto j : graph_.scope(f)) {
        if (j == i || place_[j] < 0) continue;
        if (found >= 0) return -2;
        found = j;
    }
    return found;
}

void ForestMoves::optimise_forest() {
    shuffled_ = ball_;
    std::shuffle(shuffled_.begin(), shuffled_.end(), random_);
    nodes_.clear();
    scores_.clear();
    for (const auto i : shuffled_) join(i);
    order_nodes();
    for (std::size_t k = 0; k < nodes_.size(); ++k) add_conditional(static_cast<std::int32_t>(k));
    choices_.clear();
    choice_offsets_.resize(nodes_.size());
    for (std::size_t at = order_.size(); at-- > 0;) send(order_[at]);
    for (const auto k : order_) {
        const auto& node = nodes_[k];
        const std::int32_t* choice = choices_.data() + choice_offsets_[k];
        labels_[node.variable] = node.parent < 0 ? choice[0] : choice[labels_[nodes_[node.parent].variable]];
    }
    for (const auto& node : nodes_) place_[node.variable] = -1;
}

// Takes a variable into the forest if it closes no cycle there.
void ForestMoves::join(std::int32_t i) {
    const auto k = static_cast<std::int32_t>(nodes_.size());
    if (edges_.size() <= nodes_.size()) edges_.emplace_back();
    auto& edges = edges_[k];
    edges.clear();
    const auto factors = adjacency_.of(i);
    work_ += (static_cast<std::int64_t>(factors.size()) + 1) * graph_.n_labels[i];
    for (const auto f : factors) {
        const auto j = free_member(f, i);
        if (j == -2) return;
        if (j < 0) continue;
        const auto tree = root(place_[j]);
        for (const auto& edge : edges)
            if (root(edge.node) == tree) return;
        edges.push_back({place_[j], f});
    }
    nodes_.push_back({i, -1, -1, k, static_cast<std::int64_t>(scores_.size())});
    scores_.resize(scores_.size() + graph_.n_labels[i], 0.0);
    place_[i] = k;
    for (const auto& edge : edges) {
        nodes_[root(edge.node)].tree = k;
        edges_[edge.node].push_back({k, edge.factor});
    }
}

// Parents before their children.
void ForestMoves::order_nodes() {
    order_.clear();
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
        if (root(static_cast<std::int32_t>(k)) != static_cast<std::int32_t>(k)) continue;
        order_.push_back(static_cast<std::int32_t>(k));
    }
    for (std::size_t at = 0; at < order_.size(); ++at) {
        const auto k = order_[at];
        for (const auto& edge : edges_[k]) {
            if (edge.node == nodes_[k].parent) continue;
            nodes_[edge.node].parent = k;
            nodes_[edge.node].factor = edge.factor;
            order_.push_back(edge.node);
        }
    }
}

// What the labels of a node score given all that is not in the forest.
void ForestMoves::add_conditional(std::int32_t k) {
    const auto i = nodes_[k].variable;
    const std::int32_t n = graph_.n_labels[i];
    double* scores = scores_.data() + nodes_[k].scores;
    for (std::int32_t x = 0; x < n; ++x) scores[x] += finite(graph_.unary(i)[x]);
    for (auto slot = adjacency_.offsets[i]; slot < adjacency_.offsets[i + 1]; ++slot) {
        const std::size_t f = adjacency_.factors[slot], place = adjacency_.places[slot];
        if (free_member(f, i) >= 0) continue;
        const auto scope = graph_.scope(f);
        for (std::int32_t x = 0; x < n; ++x)
            scores[x] += factor_score(f, [&](std::size_t p) { return p == place ? x : labels_[scope[p]]; });
    }
}

// The best labels of a node for each label of its parent, which it tells what they are worth.
void ForestMoves::send(std::int32_t k) {
    const auto& node = nodes_[k];
    const std::int32_t n = graph_.n_labels[node.variable];
    const double* scores = scores_.data() + node.scores;
    choice_offsets_[k] = static_cast<std::int64_t>(choices_.size());
    if (node.parent < 0) {
        choices_.push_back(static_cast<std::int32_t>(std::max_element(scores, scores + n) - scores));
        return;
    }
    const auto above = nodes_[node.parent].variable;
    double* out = scores_.data() + nodes_[node.parent].scores;
    const auto scope = graph_.scope(node.factor);
    for (std::int32_t y = 0; y < graph_.n_labels[above]; ++y) {
        std::int32_t best = 0;
        double top = minus_infinity;
        for (std::int32_t x = 0; x < n; ++x) {
            const double score = scores[x] + factor_score(node.factor, [&](std::size_t p) {
                return scope[p] == node.variable ? x : scope[p] == above ? y : labels_[scope[p]];
            });
            if (score > top) top = score, best = x;
        }
        out[y] += top;
        choices_.push_back(best);
    }
}

}  // namespace structlearn
