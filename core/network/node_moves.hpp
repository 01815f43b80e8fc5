#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "dual/products.hpp"
#include "linear/sparse.hpp"
#include "network/structure.hpp"
#include "parts/composed.hpp"
#include "parts/scorers.hpp"

namespace structlearn {

// A distribution over the labellings of each example, known by the marginals of the labels of its nodes and of the joint labels
// of its factors, is a plane as good as a labelling is: its row and its loss are means. Moves at one node improve it: of all
// labellings in which the node has label a, a share gets label b there instead, which again leaves the marginals of a
// distribution, whatever the graph. So the dual climbs without an oracle, and a network of thousands of nodes, which is one
// block of the dual, is not moved by one labelling of all of them after another alone.
class NodeMoves {
    // A vector over the weights that knows where it has been touched.
    class Row {
    public:
        explicit Row(std::int64_t size) : values_(size), seen_(static_cast<std::size_t>(size)) {}

        void operator()(std::int64_t index, double value) {
            if (!seen_[index]) {
                seen_[index] = 1;
                touched_.push_back(index);
            }
            values_.get()[index] += value;
        }
        double squared_norm() {
            double sum = 0.0;
            for (const std::int64_t index : touched_) sum += values_.get()[index] * values_.get()[index];
            return sum;
        }
        void sort() { std::ranges::sort(touched_); }
        // Calls visit(index, value), and is zero again.
        template <class Visit>
        void empty(Visit&& visit) {
            for (const std::int64_t index : touched_) {
                visit(index, values_.get()[index]);
                values_.get()[index] = 0.0;
                seen_[index] = 0;
            }
            touched_.clear();
        }

    private:
        Scratch values_;
        std::vector<std::uint8_t> seen_;
        std::vector<std::int64_t> touched_;
    };

public:
    using Problem = Composed<NetworkStructure, TokenScorer>;

    NodeMoves(const Problem& problem, const PartLoss& loss)
        : shape_(&problem.structure.shape()), scorer_(problem.scorer), loss_(&loss), row_(problem.scorer.n_weights()) {
        for (std::int64_t i = 0; i < shape_->n_examples(); ++i) {
            list_factors(i);
            marginals_.push_back(marginals_.back() + shape_->n_unaries(i) + shape_->cells(i).back());
        }
    }

    // Where the marginals of each example begin: those of labels, then those of joint labels.
    const std::vector<std::int64_t>& offsets() const { return marginals_; }

    // The distribution that has one labelling alone; `marginals` are those of all examples, here and below.
    void begin(std::int64_t i, const std::int32_t* labels, double* marginals) const {
        marginals += marginals_[i];
        std::fill_n(marginals, marginals_[i + 1] - marginals_[i], 0.0);
        for (std::int64_t v = 0; v < shape_->n_variables(i); ++v) marginals[shape_->unary_offset(i, v) + labels[v]] = 1.0;
        double* joint = marginals + shape_->n_unaries(i);
        std::size_t f = 0;
        const auto cells = shape_->cells(i);
        shape_->each_factor(i, [&](std::size_t t, std::int64_t, const std::int32_t* scope, std::int64_t) {
            joint[cells[f++] + joint_label(i, shape_->templates()[t], scope, labels)] = 1.0;
        });
    }

    // Goes over the nodes of all these examples in random order, so many times, and makes the best move at each of them.
    // `masses` are the multipliers of the distributions' planes; w changes with them.
    void climb(std::span<const std::int64_t> examples, std::span<const double> masses, double* marginals, double* w,
               std::int64_t n_sweeps, std::uint64_t seed) {
        std::mt19937_64 random(seed);
        order_.clear();
        for (std::size_t k = 0; k < examples.size(); ++k)
            for (std::int32_t v = 0; v < shape_->n_variables(examples[k]); ++v) order_.emplace_back(k, v);
        for (std::int64_t sweep = 0; sweep < n_sweeps; ++sweep) {
            for (std::size_t k = order_.size(); k > 1; --k) std::swap(order_[k - 1], order_[random() % k]);
            for (const auto& [k, v] : order_) move(examples[k], v, masses[k], marginals + marginals_[examples[k]], w);
        }
    }

    // Ψ of the truth less the mean Ψ of the distribution, appended to `rows`; returns the mean loss.
    double append_row(std::int64_t i, const std::int32_t* truth, const double* marginals, CsrRows& rows) {
        marginals += marginals_[i];
        double loss = -loss_->truth(i);
        for (std::int64_t v = 0; v < shape_->n_variables(i); ++v)
            for (std::int64_t a = 0; a < shape_->n_labels(i, v); ++a) {
                const std::int64_t part = shape_->unary_offset(i, v) + a;
                const double change = (truth[v] == a) - marginals[part];
                if (change != 0.0) scorer_.features(i, part, change, row_);
                if (marginals[part] != 0.0) loss += marginals[part] * loss_->at(i, part);
            }
        const double* joint = marginals + shape_->n_unaries(i);
        shared_.assign(static_cast<std::size_t>(shape_->n_shared()), 0.0);
        shape_->each_factor(i, [&](std::size_t t, std::int64_t, const std::int32_t* scope, std::int64_t part) {
            const FactorTemplate& one = shape_->templates()[t];
            if (!one.shared) change_.assign(static_cast<std::size_t>(one.width), 0.0);
            double* change = one.shared ? shared_.data() + (part - shape_->n_local(i)) : change_.data();
            const std::int32_t right = one.columns[joint_label(i, one, scope, truth)];
            if (right >= 0) change[right] += 1.0;
            for (const std::int32_t column : one.columns) {
                if (column >= 0) change[column] -= *joint;
                ++joint;
            }
            if (!one.shared) add_parts(i, part, change_);
        });
        add_parts(i, shape_->n_local(i), shared_);
        row_.sort();
        row_.empty([&](std::int64_t index, double value) {
            if (value != 0.0) rows.indices.push_back(index), rows.values.push_back(value);
        });
        rows.indptr.push_back(static_cast<std::int64_t>(rows.indices.size()));
        return loss;
    }

private:
    // A factor as one of its nodes sees it: a joint label is (outer, label of the node, inner).
    struct Incident {
        std::int64_t part;  // where its parts begin
        std::int64_t cell;  // and its joint labels
        std::int32_t inner;
        std::int32_t which;  // template
    };

    void list_factors(std::int64_t i) {
        const auto n = static_cast<std::size_t>(shape_->n_variables(i));
        std::vector<std::vector<Incident>> at(n);
        const auto cells = shape_->cells(i);
        std::size_t f = 0;
        shape_->each_factor(i, [&](std::size_t t, std::int64_t, const std::int32_t* scope, std::int64_t part) {
            std::int32_t inner = 1;
            for (std::int64_t k = shape_->templates()[t].arity; k-- > 0; inner *= shape_->n_labels(i, scope[k]))
                at[scope[k]].push_back({part, cells[f], inner, static_cast<std::int32_t>(t)});
            ++f;
        });
        first_node_.push_back(static_cast<std::int64_t>(offsets_.size()) - 1);
        for (const auto& mine : at) {
            incident_.insert(incident_.end(), mine.begin(), mine.end());
            offsets_.push_back(static_cast<std::int64_t>(incident_.size()));
        }
    }

    std::span<const Incident> incident(std::int64_t i, std::int32_t v) const {
        const auto begin = offsets_[first_node_[i] + v], end = offsets_[first_node_[i] + v + 1];
        return std::span(incident_).subspan(begin, end - begin);
    }

    void move(std::int64_t i, std::int32_t v, double mass, double* marginals, double* w) {
        const std::int64_t first = shape_->unary_offset(i, v), L = shape_->n_labels(i, v);
        double* mine = marginals + first;
        double* joint = marginals + shape_->n_unaries(i);
        value_moves(i, v, mine, joint, w);
        const std::uint8_t* allowed = shape_->allowed(i);
        double most = 0.0;
        std::int64_t from = -1, to = -1;
        for (std::int64_t a = 0; a < L; ++a) {
            if (mine[a] <= 0.0) continue;
            for (std::int64_t b = 0; b < L; ++b) {
                const double gain = values_[a * L + b] - values_[a * L + a];
                if (gain > most && (!allowed || allowed[first + b])) most = gain, from = a, to = b;
            }
        }
        if (from < 0) return;
        collect_row(i, v, from, to, mine[from], joint);
        const double square = row_.squared_norm();
        const double share = mass * square > most ? most / (mass * square) : 1.0;
        row_.empty([&](std::int64_t index, double value) { w[index] -= mass * share * value; });
        shift(mine[from], mine[to], share);
        for (const Incident& factor : incident(i, v))
            each_cell(factor, L, from, to, [&](std::int64_t old, std::int64_t now) {
                shift(joint[factor.cell + old], joint[factor.cell + now], share);
            });
    }

    // values_[a, b]: what the labellings with label a at the node are worth if they have b there.
    void value_moves(std::int64_t i, std::int32_t v, const double* mine, const double* joint, const double* w) {
        const std::int64_t first = shape_->unary_offset(i, v), L = shape_->n_labels(i, v);
        values_.assign(static_cast<std::size_t>(L * L), 0.0);
        const double* theta = scores_at(scorer_.place(i, first), first, w);
        for (std::int64_t b = 0; b < L; ++b) {
            const double score = theta[b] + loss_->at(i, first + b);
            for (std::int64_t a = 0; a < L; ++a) values_[a * L + b] = mine[a] * score;
        }
        for (const Incident& factor : incident(i, v)) {
            const auto place = scorer_.place(i, factor.part);
            theta = place.block ? scores_at(place, factor.part, w) : nullptr;
            const auto columns = shape_->templates()[factor.which].columns;
            for (std::int64_t a = 0; a < L; ++a) {
                if (mine[a] <= 0.0) continue;
                each_cell(factor, L, a, 0, [&](std::int64_t cell, std::int64_t begin) {
                    const double x = joint[factor.cell + cell];
                    if (x == 0.0) return;
                    for (std::int64_t b = 0; b < L; ++b) {
                        const std::int32_t column = columns[begin + b * factor.inner];
                        if (column < 0) continue;
                        const double score = theta ? theta[column] : scorer_.dot_at(place, factor.part + column, -1, w);
                        values_[a * L + b] += x * score;
                    }
                });
            }
        }
    }

    // The change of Ψ where all that has label `from` at the node gets `to`, in row_.
    void collect_row(std::int64_t i, std::int32_t v, std::int64_t from, std::int64_t to, double share, const double* joint) {
        const std::int64_t first = shape_->unary_offset(i, v), L = shape_->n_labels(i, v);
        scorer_.features(i, first + from, -share, row_);
        scorer_.features(i, first + to, share, row_);
        for (const Incident& factor : incident(i, v)) {
            const FactorTemplate& one = shape_->templates()[factor.which];
            change_.assign(static_cast<std::size_t>(one.width), 0.0);
            each_cell(factor, L, from, to, [&](std::int64_t old, std::int64_t now) {
                const double x = joint[factor.cell + old];
                if (one.columns[old] >= 0) change_[one.columns[old]] -= x;
                if (one.columns[now] >= 0) change_[one.columns[now]] += x;
            });
            add_parts(i, factor.part, change_);
        }
    }

    void add_parts(std::int64_t i, std::int64_t first, const std::vector<double>& coefficients) {
        for (std::size_t k = 0; k < coefficients.size(); ++k)
            if (coefficients[k] != 0.0) scorer_.features(i, first + static_cast<std::int64_t>(k), coefficients[k], row_);
    }

    std::int64_t joint_label(std::int64_t i, const FactorTemplate& one, const std::int32_t* scope,
                             const std::int32_t* labels) const {
        std::int64_t joint = 0;
        for (std::int64_t k = 0; k < one.arity; ++k) joint = joint * shape_->n_labels(i, scope[k]) + labels[scope[k]];
        return joint;
    }

    // Calls visit(joint label, the same with b for a) for the joint labels of a factor in which the node has label a.
    template <class Visit>
    void each_cell(const Incident& factor, std::int64_t L, std::int64_t a, std::int64_t b, Visit&& visit) const {
        const auto n_cells = static_cast<std::int64_t>(shape_->templates()[factor.which].columns.size());
        for (std::int64_t outer = 0; outer < n_cells; outer += L * factor.inner)
            for (std::int64_t inner = 0; inner < factor.inner; ++inner)
                visit(outer + a * factor.inner + inner, outer + b * factor.inner + inner);
    }

    static void shift(double& from, double& to, double share) {
        to += share * from;
        from = share >= 1.0 ? 0.0 : from - share * from;
    }

    // The scores of the parts of a place, from one of its parts on.
    const double* scores_at(const TokenScorer::Place& place, std::int64_t part, const double* w) {
        scores_.resize(static_cast<std::size_t>(place.width));
        scorer_.scores_at(place, w, scores_.data());
        return scores_.data() + (part - place.first);
    }

    const NetworkShape* shape_;
    TokenScorer scorer_;
    const PartLoss* loss_;
    std::vector<std::int64_t> marginals_{0}, first_node_, offsets_{0};
    std::vector<Incident> incident_;
    Row row_;
    std::vector<std::pair<std::size_t, std::int32_t>> order_;
    std::vector<double> values_, scores_, change_, shared_;
};

}  // namespace structlearn
