#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "linear/vector.hpp"
#include "multiclass/data.hpp"

namespace structlearn {

// Classes as parts: one part a class, the whole output. See chain/parts.hpp.
class MulticlassParts {
public:
    explicit MulticlassParts(const MulticlassData& data) : data_(data) {}

    std::int64_t size(std::int64_t) const { return data_.n_classes; }
    void prepare(const double* w) { w_ = w; }

    void scores(std::int64_t i, const double* w, double* theta) { class_scores(data_, i, w, projected_, theta); }

    double sums(std::int64_t, const double* theta, double* marginals) const {
        const std::int64_t K = data_.n_classes;
        const double top = *std::max_element(theta, theta + K);
        exponentials(K, theta, top, marginals);
        double sum = 0.0;
        for (std::int64_t y = 0; y < K; ++y) sum += marginals[y];
        for (std::int64_t y = 0; y < K; ++y) marginals[y] /= sum;
        return top + std::log(sum);
    }

    double log_loss(std::int64_t i, const std::int32_t* labels, double* change) {
        theta_.resize(static_cast<std::size_t>(data_.n_classes));
        unused_.resize(theta_.size());
        scores(i, w_, theta_.data());
        const double log_z = sums(i, theta_.data(), change ? change : unused_.data());
        if (change) subtract(i, labels, 1.0, change);
        return log_z - theta_[static_cast<std::size_t>(labels[i])];
    }

    void subtract(std::int64_t i, const std::int32_t* labels, double coefficient, double* marginals) const {
        marginals[labels[i]] -= coefficient;
    }

    double push(std::int64_t i, const double* change, double* w) {
        if (!data_.output_features) return add_token(data_.X, i, change, data_.n_classes, w);
        projected_.resize(static_cast<std::size_t>(data_.n_outputs));
        weighted_rows(data_.n_classes, data_.n_outputs, change, 1, data_.output_features, projected_.data());
        return add_token(data_.X, i, projected_.data(), data_.n_outputs, w);
    }

private:
    MulticlassData data_;
    const double* w_ = nullptr;
    std::vector<double> projected_, theta_, unused_;
};

}  // namespace structlearn
