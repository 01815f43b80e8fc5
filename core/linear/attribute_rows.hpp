#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "linear/name_table.hpp"
#include "linear/sparse.hpp"

namespace structlearn {

// A row a token with increasing columns; equal ones are summed, and what is zero is left out.
struct TokenRows {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;

    void append(RowBuilder& row) {
        row.sort();
        for (const auto& [column, value] : row.entries()) {
            columns.push_back(static_cast<std::int32_t>(column));
            values.push_back(value);
        }
        indptr.push_back(static_cast<std::int64_t>(columns.size()));
    }

    using Arrays = std::tuple<std::vector<std::int64_t>, std::vector<std::int32_t>, std::vector<double>>;
    Arrays arrays() && { return {std::move(indptr), std::move(columns), std::move(values)}; }
};

// Rows of numbered names, with name k in column `column_of[k]`, or left out where it has none.
inline TokenRows::Arrays attribute_rows(std::span<const std::int64_t> indptr, std::span<const std::int32_t> numbers,
                                        std::span<const double> values, std::span<const std::int32_t> column_of) {
    TokenRows rows;
    RowBuilder row;
    for (std::size_t token = 0; token + 1 < indptr.size(); ++token) {
        row.clear();
        for (std::int64_t k = indptr[token]; k < indptr[token + 1]; ++k) {
            const std::int32_t column = column_of[numbers[k]];
            if (column != NameTable::unknown) row(column, values[k]);
        }
        rows.append(row);
    }
    return std::move(rows).arrays();
}

}  // namespace structlearn
