#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "batch/ragged.hpp"
#include "linear/dense.hpp"
#include "linear/vector.hpp"

namespace structlearn {

// Δ(y_i, ŷ) = ⟨ℓ_i, μ(ŷ)⟩ − ⟨ℓ_i, μ(y_i)⟩, with a number for every local part.
class PartLoss {
public:
    virtual ~PartLoss() = default;

    // Adds ℓ_i to the scores of the local parts.
    virtual void add(std::int64_t i, double* local) const = 0;
    // ℓ_i of one part.
    virtual double at(std::int64_t i, std::int64_t part) const = 0;
    // ⟨ℓ_i, μ(y_i)⟩
    virtual double truth(std::int64_t i) const = 0;
    // Whether its parts are whole segments, which stand for no scores of the model.
    virtual bool of_spans() const { return false; }
};

// What a label costs where another one, or one that is not known, is true; nothing where it is true itself. For outputs that
// begin with one part for every label at every token.
class LabelCosts : public PartLoss {
public:
    // `cost` is (n_labels, n_labels): true label, other label. Labels that are not known are −1 and cost 1.
    LabelCosts(std::span<const std::int32_t> labels, Ragged tokens, MatrixView<double> cost)
        : labels_(labels), tokens_(tokens), cost_(cost) {}

    void add(std::int64_t i, double* local) const override {
        const auto L = static_cast<std::int64_t>(cost_.columns);
        for (std::int64_t t = tokens_.begin(i); t < tokens_.end(i); ++t, local += L) {
            if (labels_[t] >= 0)
                add_scaled(L, 1.0, cost_.row(static_cast<std::size_t>(labels_[t])), local);
            else
                for (std::int64_t l = 0; l < L; ++l) local[l] += 1.0;
        }
    }
    double at(std::int64_t i, std::int64_t part) const override {
        // Divisions of short numbers take half the time.
        const auto L = static_cast<std::uint32_t>(cost_.columns), place = static_cast<std::uint32_t>(part);
        if (part >= tokens_.size(i) * L) return 0.0;
        const std::int32_t truth = labels_[tokens_.begin(i) + place / L];
        return truth < 0 ? 1.0 : cost_.row(static_cast<std::size_t>(truth))[place % L];
    }
    double truth(std::int64_t) const override { return 0.0; }

private:
    std::span<const std::int32_t> labels_;
    Ragged tokens_;
    MatrixView<double> cost_;
};

// A number for every local part, or for the first ones, as they are given.
class ListedLosses : public PartLoss {
public:
    ListedLosses(std::span<const double> values, Ragged parts, std::span<const double> truths)
        : values_(values), parts_(parts), truths_(truths) {}

    void add(std::int64_t i, double* local) const override {
        add_scaled(parts_.size(i), 1.0, values_.data() + parts_.begin(i), local);
    }
    double at(std::int64_t i, std::int64_t part) const override {
        return part < parts_.size(i) ? values_[parts_.begin(i) + part] : 0.0;
    }
    double truth(std::int64_t i) const override { return truths_[i]; }

private:
    std::span<const double> values_;
    Ragged parts_;
    std::span<const double> truths_;
};

// What is counted over the local parts, as steps from level to level: outputs of one level have the same loss. A level is two
// counts, first × width + second, or one below the width.
class PartSteps {
public:
    virtual ~PartSteps() = default;

    virtual std::int64_t n_levels(std::int64_t i) const = 0;
    virtual std::int64_t width(std::int64_t i) const { return n_levels(i); }
    // The step of every local part.
    virtual void write(std::int64_t i, std::int32_t* steps) const = 0;
    // The step of one part.
    virtual std::int32_t at(std::int64_t i, std::int64_t part) const = 0;
    // Whether its parts are whole segments, which stand for no scores of the model.
    virtual bool of_spans() const { return false; }
};

// Wrong labels, in whole units.
class LabelSteps : public PartSteps {
public:
    LabelSteps(std::span<const std::int32_t> labels, Ragged tokens, MatrixView<std::int32_t> cost)
        : labels_(labels), tokens_(tokens), cost_(cost) {}

    std::int64_t n_levels(std::int64_t i) const override {
        std::int64_t most = 1;
        for (std::int64_t t = tokens_.begin(i); t < tokens_.end(i); ++t) {
            const std::int32_t* row = cost_.row(static_cast<std::size_t>(labels_[t]));
            most += *std::max_element(row, row + cost_.columns);
        }
        return most;
    }
    void write(std::int64_t i, std::int32_t* steps) const override {
        for (std::int64_t t = tokens_.begin(i); t < tokens_.end(i); ++t, steps += cost_.columns)
            std::copy_n(cost_.row(static_cast<std::size_t>(labels_[t])), cost_.columns, steps);
    }
    std::int32_t at(std::int64_t i, std::int64_t part) const override {
        const auto L = static_cast<std::int64_t>(cost_.columns);
        return part < tokens_.size(i) * L ? cost_.row(static_cast<std::size_t>(labels_[tokens_.begin(i) + part / L]))[part % L] : 0;
    }

private:
    std::span<const std::int32_t> labels_;
    Ragged tokens_;
    MatrixView<std::int32_t> cost_;
};

// A step for every local part, or for the first ones, as they are given.
class ListedSteps : public PartSteps {
public:
    // `levels` has the number of levels and the width of each example.
    ListedSteps(std::span<const std::int32_t> steps, Ragged parts, MatrixView<std::int64_t> levels, bool of_spans)
        : steps_(steps), parts_(parts), levels_(levels), of_spans_(of_spans) {}

    std::int64_t n_levels(std::int64_t i) const override { return levels_.row(static_cast<std::size_t>(i))[0]; }
    std::int64_t width(std::int64_t i) const override { return levels_.row(static_cast<std::size_t>(i))[1]; }
    void write(std::int64_t i, std::int32_t* steps) const override {
        std::copy_n(steps_.data() + parts_.begin(i), parts_.size(i), steps);
    }
    std::int32_t at(std::int64_t i, std::int64_t part) const override {
        return part < parts_.size(i) ? steps_[parts_.begin(i) + part] : 0;
    }
    bool of_spans() const override { return of_spans_; }

private:
    std::span<const std::int32_t> steps_;
    Ragged parts_;
    MatrixView<std::int64_t> levels_;
    bool of_spans_;
};

}  // namespace structlearn
