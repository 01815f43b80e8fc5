#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alignment/data.hpp"
#include "linear/sparse.hpp"

namespace structlearn {

// Ψ(x_i, y) of the chosen examples, with the codes of one alignment each, one after another.
inline CsrRows alignment_features(const AlignmentData& data, std::span<const std::int64_t> examples,
                                  std::span<const std::int32_t> codes) {
    const auto at = data.s.letters.gathered(examples);
    CsrRows rows;
    RowBuilder row;
    for (std::size_t k = 0; k < examples.size(); ++k) {
        std::vector<double> dense(static_cast<std::size_t>(data.s.n_dense * data.t.n_dense), 0.0);
        row.clear();
        features(data, examples[k], codes.data() + at[k], nullptr, 1.0, dense, row);
        for (std::size_t j = 0; j < dense.size(); ++j)
            if (dense[j] != 0.0) row(data.dense_at + static_cast<std::int64_t>(j), dense[j]);
        row.sort();
        rows.append(row);
    }
    return rows;
}

}  // namespace structlearn
