#include "relaxations/dual_ascent.hpp"

#include <cmath>
#include <cstdlib>

#include "relaxations/cycles.hpp"

namespace structlearn {

DualAscent::DualAscent(const FactorGraph& graph)
    : graph_(graph),
      adjacency_(graph),
      offsets_(graph.n_factors()),
      alive_(graph.unaries.size(), 1),
      labels_(graph.n_variables(), 0),
      decoded_(graph.n_variables(), 0) {
    std::int64_t size = 0, widest = 1, largest = 1;
    for (std::size_t f = 0; f < graph.n_factors(); ++f) {
        offsets_[f] = size;
        std::int64_t sum = 0, most = 0;
        for (const auto i : graph.scope(f)) {
            sum += graph.n_labels[i];
            most = std::max<std::int64_t>(most, graph.n_labels[i]);
        }
        size += one_vector(f) ? most : sum;
        largest = std::max(largest, sum);
        if (graph.kind(f) == FactorKind::table) table_cells_ += static_cast<double>(graph.table_size(f));
    }
    for (const auto n : graph.n_labels) widest = std::max<std::int64_t>(widest, n);
    messages_.assign(size, 0.0);
    n_messages_ = messages_.size();
    for (auto* room : {&belief_, &conditional_, &sent_}) room->resize(widest);
    group_.resize(std::max(largest, widest));
    forbids_ = std::find(graph.values.begin(), graph.values.end(), minus_infinity) != graph.values.end();
    score_ = graph.score(labels_);
}

void DualAscent::set_unaries(std::span<const double> unaries) {
    graph_.unaries = unaries;
    std::fill(alive_.begin(), alive_.end(), 1);
    forget_bound();
    score_ = graph_.score(labels_);
}

void DualAscent::offer(std::span<const std::int32_t> labels) {
    const double score = graph_.score(labels);
    if (!(score > score_)) return;
    score_ = score;
    std::copy(labels.begin(), labels.end(), labels_.begin());
}

void DualAscent::restore(const State& state) {
    messages_ = state.messages;
    clusters_.restore(state.clusters);
    alive_ = state.alive;
    bound_ = state.bound;
    forward_ = state.forward;
}

std::size_t DualAscent::state_bytes() const {
    return sizeof(State) + sizeof(double) * messages_.size() + clusters_.state_bytes() + alive_.size();
}

void DualAscent::watch_conflicts() {
    base_.assign(graph_.n_factors(), 0.0);
    conflicts_.assign(graph_.n_variables(), 0.0);
}

double DualAscent::pass() {
    forward_ = !forward_;
    clusters_.sweep(view(), forward_);
    double sum = 0.0;
    for (const double constant : graph_.constants) sum += constant;
    decoded_score_ = sum;
    sum += clusters_.chord_maxima(view());
    std::fill(conflicts_.begin(), conflicts_.end(), 0.0);
    const auto n = static_cast<std::int32_t>(graph_.n_variables());
    for (std::int32_t k = 0; k < n; ++k) {
        const double top = visit(forward_ ? k : n - 1 - k);
        if (top == minus_infinity) return bound_ = minus_infinity;
        sum += top;
    }
    if (!conflicts_.empty()) clusters_.add_losses(view(), decoded_, conflicts_);
    if (decoded_score_ > score_) offer(decoded_);
    return bound_ = std::min(bound_, sum);
}

double DualAscent::visit(std::int32_t i) {
    gather(i);
    const double top = *std::max_element(belief_.begin(), belief_.begin() + graph_.n_labels[i]);
    if (top == minus_infinity) return top;
    drop_hopeless(i, top);
    decode(i);
    distribute(i, top);
    return top;
}

double* DualAscent::message(std::size_t f, std::size_t place) {
    double* first = messages_.data() + offsets_[f];
    const auto scope = graph_.scope(f);
    if (clusters_.has(f))
        return clusters_.stands_first(f, scope[place]) ? first : first + graph_.n_labels[scope[1 - place]];
    if (scope.size() == 2) return first;
    for (std::size_t k = 0; k < place; ++k) first += graph_.n_labels[scope[k]];
    return first;
}

DualAscent::Arc DualAscent::arc(std::int32_t i, std::size_t f, std::size_t place) {
    const auto scope = graph_.scope(f);
    if (one_vector(f)) {
        const auto other = scope[1 - place];
        return {f, place, messages_.data() + offsets_[f], other, met(i, other), met(other, i)};
    }
    Arc found{f, place, message(f, place), -1, false, false};
    for (const auto j : scope) {
        found.ahead |= met(i, j);
        found.behind |= met(j, i);
    }
    return found;
}

// h_i, with fresh messages from the factors that were changed since the last visit.
void DualAscent::gather(std::int32_t i) {
    const std::size_t n = graph_.n_labels[i];
    const auto unary = graph_.unary(i);
    for (std::size_t x = 0; x < n; ++x) belief_[x] = unary[x];
    arcs_.clear();
    for (auto slot = adjacency_.offsets[i]; slot < adjacency_.offsets[i + 1]; ++slot) {
        arcs_.push_back(arc(i, adjacency_.factors[slot], adjacency_.places[slot]));
        const auto& [f, place, m, other, ahead, behind] = arcs_.back();
        if (clusters_.has(f))
            clusters_.collect(view(), f, i, m);
        else if (other < 0 && behind)
            marginals_.group(graph_, f, place, left(f), m);
        if (forbids_) drop_unsupported(i, m);
        for (std::size_t x = 0; x < n; ++x) belief_[x] += m[x];
    }
    const auto alive = this->alive(i);
    for (std::size_t x = 0; x < n; ++x)
        if (!alive[x]) belief_[x] = minus_infinity;
}

// What the messages leave of the labels of a factor's variables.
const double* DualAscent::left(std::size_t f) {
    const double* m = messages_.data() + offsets_[f];
    double* r = group_.data();
    for (const auto j : graph_.scope(f)) {
        const auto alive = this->alive(j);
        for (const auto one : alive) *r++ = one ? -*m++ : (++m, minus_infinity);
    }
    return group_.data();
}

// The same with the decoded label alone for each variable that was met before i.
const double* DualAscent::left_given(std::size_t f, std::int32_t i) {
    left(f);
    double* r = group_.data();
    for (const auto j : graph_.scope(f)) {
        const std::int32_t n = graph_.n_labels[j];
        if (met(j, i)) {
            std::fill(r, r + n, minus_infinity);
            r[decoded_[j]] = 0.0;
        }
        r += n;
    }
    return group_.data();
}

// Labels that a factor allows with no labels of its other variables.
void DualAscent::drop_unsupported(std::int32_t i, double* message) {
    std::uint8_t* alive = alive_.data() + graph_.unary_offsets[i];
    for (std::int32_t x = 0; x < graph_.n_labels[i]; ++x)
        if (message[x] == minus_infinity) {
            message[x] = 0.0;
            alive[x] = 0;
        }
}

// No labelling with the label x of i scores more than the bound less what x loses at i.
void DualAscent::drop_hopeless(std::int32_t i, double top) {
    if (cutoff_ == minus_infinity) return;
    std::uint8_t* alive = alive_.data() + graph_.unary_offsets[i];
    for (std::int32_t x = 0; x < graph_.n_labels[i]; ++x)
        if (belief_[x] != top && bound_ - (top - belief_[x]) <= cutoff_) {
            belief_[x] = minus_infinity;
            alive[x] = 0;
        }
}

// The best label given those of the variables that were met before.
void DualAscent::decode(std::int32_t i) {
    const std::size_t n = graph_.n_labels[i];
    const auto unary = graph_.unary(i);
    std::copy(unary.begin(), unary.end(), conditional_.begin());
    for (const auto& arc : arcs_) add_conditional(arc, i);
    clusters_.subtract_known(
        graph_, i, decoded_,
        [&](const auto& variables) {
            return std::all_of(variables.begin(), variables.end(), [&](auto j) { return j == i || met(j, i); });
        },
        conditional_.data());
    std::int32_t best = -1;
    for (std::size_t x = 0; x < n; ++x)
        if (belief_[x] != minus_infinity && (best < 0 || conditional_[x] > conditional_[best])) best = static_cast<std::int32_t>(x);
    decoded_[i] = best;
    decoded_score_ += unary[best];
    for (const auto& arc : arcs_) {
        if (arc.ahead) continue;
        const auto scope = graph_.scope(arc.factor);
        decoded_score_ += graph_.factor_score(arc.factor, [&](std::size_t k) { return decoded_[scope[k]]; });
    }
}

void DualAscent::add_conditional(const Arc& arc, std::int32_t i) {
    const std::int32_t n = graph_.n_labels[i];
    const double* scores = arc.message;
    if (arc.behind && clusters_.has(arc.factor)) {
        const auto j = graph_.scope(arc.factor)[1 - arc.place];
        const std::int32_t across = i < j ? graph_.n_labels[j] : 1, along = i < j ? 1 : n;
        const double* table = clusters_.table(arc.factor) + decoded_[j] * along;
        for (std::int32_t x = 0; x < n; ++x) conditional_[x] += table[x * across];
        return;
    }
    if (arc.behind && graph_.scope(arc.factor).size() == 2) {
        const auto y = decoded_[graph_.scope(arc.factor)[1 - arc.place]];
        for (std::int32_t x = 0; x < n; ++x)
            conditional_[x] += arc.place == 1 ? graph_.pair_score(arc.factor, y, x) : graph_.pair_score(arc.factor, x, y);
        return;
    }
    if (arc.behind) {
        marginals_.group(graph_, arc.factor, arc.place, left_given(arc.factor, i), sent_.data());
        scores = sent_.data();
    }
    for (std::int32_t x = 0; x < n; ++x) conditional_[x] += scores[x];
}

// h_i less its maximum, in equal shares to the factors that reach further.
void DualAscent::distribute(std::int32_t i, double top) {
    int ahead = 0, behind = 0;
    for (const auto& arc : arcs_) {
        ahead += arc.ahead;
        behind += arc.behind;
    }
    const std::int32_t n = graph_.n_labels[i];
    const double share = ahead + behind > 0 ? 1.0 / std::max(ahead, behind) : 0.0;
    if (!conflicts_.empty()) note_conflicts(i, top, 1.0 - share * ahead);
    for (const auto& [f, place, m, other, is_ahead, is_behind] : arcs_) {
        if (!is_ahead) continue;
        if (other < 0) {
            for (std::int32_t x = 0; x < n; ++x)
                if (belief_[x] != minus_infinity) m[x] -= share * (belief_[x] - top);
            continue;
        }
        for (std::int32_t x = 0; x < n; ++x) sent_[x] = share * (belief_[x] - top) - m[x];
        if (record_) std::copy(sent_.begin(), sent_.begin() + n, record_->begin() + offsets_[f]);
        if (!base_.empty()) base_[f] = sent_[decoded_[i]];
        marginals_.pair(graph_, f, place, sent_.data(), m);
    }
}

// Σ of these at all variables and factors is the bound less the score that was decoded.
void DualAscent::note_conflicts(std::int32_t i, double top, double kept) {
    conflicts_[i] += kept * (top - belief_[decoded_[i]]);
    for (const auto& arc : arcs_) {
        if (arc.ahead) continue;
        const auto scope = graph_.scope(arc.factor);
        double loss = arc.message[decoded_[i]];
        if (arc.other >= 0) {
            loss -= base_[arc.factor];
        } else {
            for (std::size_t k = 0; k < scope.size(); ++k)
                if (k != arc.place) loss += message(arc.factor, k)[decoded_[scope[k]]];
        }
        if (clusters_.has(arc.factor)) {
            const auto low = std::min(scope[0], scope[1]), high = std::max(scope[0], scope[1]);
            loss -= clusters_.table(arc.factor)[decoded_[low] * graph_.n_labels[high] + decoded_[high]];
        } else {
            loss -= graph_.factor_score(arc.factor, [&](std::size_t k) { return decoded_[scope[k]]; });
        }
        for (const auto j : scope) conflicts_[j] += loss;
    }
}

std::size_t DualAscent::tighten(std::size_t most) {
    std::vector<double> sent(messages_.size());
    // The next pass but one is forward, and leaves to pairs of one vector what they were sent and what they answered.
    if (forward_) pass();
    record_ = &sent;
    const double bound = pass();
    record_ = nullptr;
    if (bound == minus_infinity) return 0;
    for (const auto charge : {CycleFinder::Charge::share, CycleFinder::Charge::all}) {
        CycleFinder finder(*this, sent, charge);
        if (const auto added = add_clusters(finder, most, sent)) return added;
    }
    return 0;
}

std::size_t DualAscent::add_clusters(CycleFinder& finder, std::size_t most, const std::vector<double>& sent) {
    std::size_t added = 0;
    for (const auto& cycle : finder.cycles(most))
        for (std::size_t k = 2; k < cycle.size(); ++k) {
            std::array triplet{cycle[0], cycle[k - 1], cycle[k]};
            std::sort(triplet.begin(), triplet.end());
            for (const auto& [a, b] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
                if (clusters_.has_pair(triplet[a], triplet[b])) continue;
                const auto f = finder.factor(triplet[a], triplet[b]);
                if (f >= 0) convert(f, sent);
                clusters_.add_pair(graph_, triplet[a], triplet[b], f);
            }
            added += clusters_.add(graph_, triplet[0], triplet[1], triplet[2]);
        }
    return added;
}

// A pair of one vector gets the messages to both of its variables, that of lower number first.
void DualAscent::convert(std::size_t f, const std::vector<double>& sent) {
    const auto scope = graph_.scope(f);
    const std::int32_t n = graph_.n_labels[std::min(scope[0], scope[1])],
                       m = graph_.n_labels[std::max(scope[0], scope[1])];
    const auto old = offsets_[f];
    offsets_[f] = static_cast<std::int64_t>(messages_.size());
    for (std::int32_t x = 0; x < n; ++x) messages_.push_back(sent[old + x] == minus_infinity ? 0.0 : -sent[old + x]);
    for (std::int32_t x = 0; x < m; ++x) messages_.push_back(messages_[old + x]);
}

}  // namespace structlearn
