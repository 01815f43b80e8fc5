#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "graph/junction_tree.hpp"
#include "graph/level_tree.hpp"
#include "network/shape.hpp"
#include "parts/composed.hpp"

namespace structlearn {

// Labelled graphs as a structure, by junction trees: an output is a label for every variable. What is not allowed has −∞ instead
// of its score.
class NetworkStructure {
public:
    explicit NetworkStructure(const NetworkShape& shape) : shape_(&shape) {}

    const NetworkShape& shape() const { return *shape_; }
    std::int64_t output_size(std::int64_t i) const { return shape_->n_variables(i); }
    std::int64_t n_local(std::int64_t i) const { return shape_->n_local(i); }
    std::int64_t n_shared() const { return shape_->n_shared(); }

    void prepare(const double* shared) {
        values_.resize(static_cast<std::size_t>(shape_->n_shared_values()));
        double* out = values_.data();
        const auto templates = shape_->templates();
        for (std::size_t t = 0; t < templates.size(); ++t) {
            if (!templates[t].shared) continue;
            out = expand(t, shared, out);
            shared += templates[t].width;
        }
    }

    // The graph of an example with these scores of its parts, until the next call.
    const FactorGraph& read(std::int64_t i, const double* local) {
        std::span<const double> unaries(local, static_cast<std::size_t>(shape_->n_unaries(i)));
        if (const std::uint8_t* allowed = shape_->allowed(i)) {
            unaries_.assign(unaries.begin(), unaries.end());
            for (std::size_t k = 0; k < unaries_.size(); ++k)
                if (!allowed[k]) unaries_[k] = minus_infinity;
            unaries = unaries_;
        }
        values_.resize(static_cast<std::size_t>(shape_->n_values(i)));
        double* out = values_.data() + shape_->n_shared_values();
        local += shape_->n_unaries(i);
        const auto templates = shape_->templates();
        for (std::size_t t = 0; t < templates.size(); ++t) {
            if (templates[t].shared) continue;
            for (std::int64_t left = templates[t].factors.size(i); left > 0; --left, local += templates[t].width)
                out = expand(t, local, out);
        }
        return graph_ = shape_->graph(i, unaries, values_, extent_);
    }

    double best(std::int64_t i, const double* local, Codes& codes) {
        codes.resize(static_cast<std::size_t>(output_size(i)));
        const double score = collect<MaxPlus>(i, local);
        tree_.best(codes);
        return score;
    }
    double score(std::int64_t i, const double* local, const std::int32_t* labels) {
        return read(i, local).score({labels, static_cast<std::size_t>(output_size(i))});
    }
    void k_best(std::int64_t i, const double* local, std::int64_t k, std::vector<Codes>& found,
                std::vector<double>& values) {
        const double score = collect<MaxPlus>(i, local);
        const auto [labels, less] = tree_.k_best(static_cast<std::size_t>(k));
        const std::int64_t n = output_size(i);
        for (std::size_t rank = 0; rank < less.size(); ++rank) {
            const auto begin = labels.begin() + static_cast<std::int64_t>(rank) * n;
            found.emplace_back(begin, begin + n);
            values.push_back(score - less[rank]);
        }
    }
    const std::vector<double>& levels(std::int64_t i, const double* local, const Counting& counted) {
        return levels_.run(read(i, local), tree(i), counted.steps, counted.n_levels);
    }
    void trace_level(std::int64_t i, const double*, const Counting&, std::int64_t level, Codes& codes) {
        codes.resize(static_cast<std::size_t>(output_size(i)));
        levels_.trace(level, codes);
    }

    double sums(std::int64_t i, const double* local, double* of_local, double* of_shared) {
        const double log_z = collect<LogSum>(i, local);
        if (!of_local) return log_z;
        const auto cells = shape_->cells(i);
        joint_.resize(static_cast<std::size_t>(cells.back()));
        tree_.marginals({of_local, static_cast<std::size_t>(shape_->n_unaries(i))}, cells, joint_);
        std::fill_n(of_shared, n_shared(), 0.0);
        fold(i, joint_.data(), of_local, of_shared);
        return log_z;
    }
    // Marginals of the joint labels of all factors, one after another.
    std::int64_t n_pairs(std::int64_t i) const { return shape_->cells(i).back(); }
    void pair_sums(std::int64_t i, const double* local, double* joint) {
        collect<LogSum>(i, local);
        nodes_.resize(static_cast<std::size_t>(shape_->n_unaries(i)));
        tree_.marginals(nodes_, shape_->cells(i), {joint, static_cast<std::size_t>(n_pairs(i))});
    }
    template <class Uniform>
    void sample(std::int64_t i, const double*, Uniform&& uniform, Codes& codes) {
        codes.resize(static_cast<std::size_t>(output_size(i)));
        tree_.sample(uniform, codes);
    }

    // Numbers of the parts of factors, from those of their joint labels: local ones are set, shared ones grow.
    void fold(std::int64_t i, const double* joint, double* of_local, double* of_shared) const {
        std::fill(of_local + shape_->n_unaries(i), of_local + n_local(i), 0.0);
        shape_->each_factor(i, [&](std::size_t t, std::int64_t, const std::int32_t*, std::int64_t at) {
            const FactorTemplate& one = shape_->templates()[t];
            double* out = one.shared ? of_shared + (at - n_local(i)) : of_local + at;
            for (const std::int32_t column : one.columns) {
                if (column >= 0) out[column] += *joint;
                ++joint;
            }
        });
    }

    template <class Visit>
    void each_part(std::int64_t i, const std::int32_t* labels, Visit&& visit) const {
        for (std::int64_t v = 0; v < output_size(i); ++v) visit(shape_->unary_offset(i, v) + labels[v]);
        shape_->each_factor(i, [&](std::size_t t, std::int64_t, const std::int32_t* scope, std::int64_t at) {
            const std::int32_t column = this->column(i, t, scope, labels);
            if (column >= 0) visit(at + column);
        });
    }
    template <class Visit>
    void each_move(std::int64_t i, const std::int32_t* labels, const std::int32_t* other, Visit&& visit) const {
        for (std::int64_t v = 0; v < output_size(i); ++v)
            if (labels[v] != other[v]) visit(shape_->unary_offset(i, v) + labels[v], shape_->unary_offset(i, v) + other[v]);
        shape_->each_factor(i, [&](std::size_t t, std::int64_t, const std::int32_t* scope, std::int64_t at) {
            const std::int32_t right = column(i, t, scope, labels), wrong = column(i, t, scope, other);
            if (right != wrong) visit(right >= 0 ? at + right : -1, wrong >= 0 ? at + wrong : -1);
        });
    }

private:
    // The part of a factor that its labels have, −1 for none.
    std::int32_t column(std::int64_t i, std::size_t t, const std::int32_t* scope, const std::int32_t* labels) const {
        std::int64_t joint = 0;
        const FactorTemplate& one = shape_->templates()[t];
        for (std::int64_t k = 0; k < one.arity; ++k) joint = joint * shape_->n_labels(i, scope[k]) + labels[scope[k]];
        return one.columns[joint];
    }

    // The values of a factor, from the scores of its parts.
    double* expand(std::size_t t, const double* scores, double* out) const {
        if (shape_->is_potts(t)) {
            *out = scores[0];
            return out + 1;
        }
        for (const std::int32_t column : shape_->templates()[t].columns) *out++ = column >= 0 ? scores[column] : 0.0;
        return out;
    }

    const std::shared_ptr<const TreeShape>& tree(std::int64_t i) const {
        if (!shape_->tree(i)) throw std::logic_error("a graph without a junction tree was asked for its best labels");
        return shape_->tree(i);
    }
    template <class Semiring>
    double collect(std::int64_t i, const double* local) {
        double value = 0.0;
        tree_.set(read(i, local), tree(i));
        tree_.template collect<Semiring>({&value, 1});
        return value;
    }

    const NetworkShape* shape_;
    FactorGraph graph_;
    std::int64_t extent_[2] = {};
    JunctionTree tree_;
    LevelTree levels_;
    std::vector<double> values_, unaries_, joint_, nodes_;
};

}  // namespace structlearn
