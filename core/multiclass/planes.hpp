#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "dual/products.hpp"
#include "parts/scorers.hpp"

namespace structlearn {

// Planes of one label an example: a plane is the other class, the row of X is shared. The same as PartPlanes, in a third of
// the memory. See dual/working_sets.hpp.
class MulticlassPlanes {
public:
    using Plane = std::int32_t;
    struct Block {
        std::vector<std::int32_t> others;

        std::int64_t size() const { return static_cast<std::int64_t>(others.size()); }
        std::size_t nbytes() const { return 4 * others.capacity(); }
    };

    // `labels` is the truth, one an example.
    MulticlassPlanes(const TokenBlock& data, const std::int32_t* labels) : data_(data), labels_(labels) {}

    std::int64_t n_classes() const { return data_.width; }

    void push(std::int64_t, Block& block, Plane other) const { block.others.push_back(other); }
    bool same(std::int64_t, const Block& block, std::int64_t k, Plane other) const { return block.others[k] == other; }
    void keep(std::int64_t, Block& block, std::span<const std::int64_t> kept) const {
        Block remaining;
        for (const std::int64_t k : kept) remaining.others.push_back(block.others[k]);
        block = std::move(remaining);
    }
    using Written = std::vector<std::int32_t>;
    void write(std::int64_t, const Block& block, std::int64_t k, Written& out) const { out.push_back(block.others[k]); }
    void dots(std::int64_t i, const Block& block, const double* w, double* out) {
        if (!data_.output_features) {
            for (std::size_t k = 0; k < block.others.size(); ++k)
                out[k] = pair_score(data_.X, i, w, data_.width, labels_[i], block.others[k]);
            return;
        }
        projected_.resize(static_cast<std::size_t>(data_.n_outputs));
        token_scores(data_.X, i, w, data_.n_outputs, projected_.data());
        for (std::size_t k = 0; k < block.others.size(); ++k)
            out[k] = difference_dot(i, block.others[k], projected_.data());
    }
    void add(std::int64_t i, const Block& block, const double* coefficients, double* w) {
        if (!data_.output_features) {
            for (std::size_t k = 0; k < block.others.size(); ++k)
                if (coefficients[k] != 0.0)
                    add_pair(data_.X, i, coefficients[k], data_.width, labels_[i], block.others[k], w);
            return;
        }
        projected_.assign(static_cast<std::size_t>(data_.n_outputs), 0.0);
        for (std::size_t k = 0; k < block.others.size(); ++k)
            add_difference(i, block.others[k], coefficients[k], projected_.data());
        add_token(data_.X, i, projected_.data(), data_.n_outputs, w);
    }
    // ⟨φ ⊗ δ, φ ⊗ δ'⟩ = ‖φ‖² ⟨δ, δ'⟩
    void products(std::int64_t i, const Block& block, std::int64_t k, Scratch&, double* out) {
        const double square = data_.X.squared_norm(i);
        if (data_.output_features) {
            projected_.assign(static_cast<std::size_t>(data_.n_outputs), 0.0);
            add_difference(i, block.others[k], square, projected_.data());
        }
        for (std::size_t l = 0; l < block.others.size(); ++l) {
            if (data_.output_features)
                out[l] = difference_dot(i, block.others[l], projected_.data());
            else if (block.others[k] == labels_[i] || block.others[l] == labels_[i])
                out[l] = 0.0;
            else
                out[l] = block.others[k] == block.others[l] ? 2.0 * square : square;
        }
    }

private:
    // ⟨Λ(y_i) − Λ(other), v⟩
    double difference_dot(std::int64_t i, std::int32_t other, const double* v) const {
        double sum = 0.0;
        for (std::int64_t r = 0; r < data_.n_outputs; ++r) sum += (data_.output(labels_[i])[r] - data_.output(other)[r]) * v[r];
        return sum;
    }

    // v += coefficient (Λ(y_i) − Λ(other))
    void add_difference(std::int64_t i, std::int32_t other, double coefficient, double* v) const {
        for (std::int64_t r = 0; r < data_.n_outputs; ++r) v[r] += coefficient * (data_.output(labels_[i])[r] - data_.output(other)[r]);
    }

    TokenBlock data_;
    const std::int32_t* labels_;
    std::vector<double> projected_;
};

}  // namespace structlearn
