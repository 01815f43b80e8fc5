#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "dual/saved_sets.hpp"
#include "linear/sparse.hpp"

namespace structlearn {

// Readers of the planes of saved working sets, one plane after another. The arrays may come from a file that somebody made
// up: nothing is read before its place was checked.

class SavedLabels {
public:
    explicit SavedLabels(std::span<const std::int32_t> labels) : rest_(labels) {}

    // The next `count` labels, which must be below `n_labels`.
    const std::int32_t* next(std::int64_t count, std::int64_t n_labels) {
        const auto size = static_cast<std::size_t>(count);
        require(size <= rest_.size(), "planes without labels");
        const auto found = rest_.first(size);
        for (const std::int32_t label : found) require(label >= 0 && label < n_labels, "a label that is no class");
        rest_ = rest_.subspan(size);
        return found.data();
    }

private:
    std::span<const std::int32_t> rest_;
};

class SavedRows {
public:
    explicit SavedRows(const SparseRows& rows) : rows_(rows) {}

    // The next row, which must lie within the weights.
    SparseRow next(std::int64_t n_weights) {
        require(k_ < rows_.rows.count(), "planes without rows");
        const std::int64_t begin = rows_.rows.begin(k_), end = rows_.rows.end(k_);
        const auto most = static_cast<std::int64_t>(std::min(rows_.indices.size(), rows_.values.size()));
        require(0 <= begin && begin <= end && end <= most, "rows without numbers");
        const SparseRow row = rows_[k_++];
        std::int64_t before = -1;
        for (std::size_t j = 0; j < row.indices.size(); ++j) {
            require(row.indices[j] > before && row.indices[j] < n_weights, "a row beyond the weights");
            require(std::isfinite(row.values[j]), "a row that is not finite");
            before = row.indices[j];
        }
        return row;
    }

private:
    SparseRows rows_;
    std::int64_t k_ = 0;
};

}  // namespace structlearn
