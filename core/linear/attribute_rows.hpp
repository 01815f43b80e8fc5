#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "linear/name_table.hpp"

namespace structlearn {

// The features of one token as they come, in any order and with or without a column. Most tokens have their features by the
// same templates and so in the same order of columns: each row is arranged as the one before it and then mostly sorted.
class TokenRow {
public:
    struct Entry {
        std::int32_t column, key;
        std::size_t place;
        double value;

        // Equal columns as they came, so that their sum does not depend on other rows.
        bool operator<(const Entry& other) const { return key != other.key ? key < other.key : place < other.place; }
    };

    void clear() { entries_.clear(); }
    void operator()(std::int32_t column, double value) { entries_.push_back({column, column, entries_.size(), value}); }

    // By column; those without one anywhere.
    const std::vector<Entry>& sorted() {
        const std::size_t n = entries_.size();
        if (order_.size() != n) {
            order_.resize(n);
            std::iota(order_.begin(), order_.end(), std::size_t{0});
        }
        sorted_.resize(n);
        std::int32_t before = NameTable::unknown;
        for (std::size_t k = 0; k < n; ++k) {
            sorted_[k] = entries_[order_[k]];
            // What has no column stays where it is, for the sake of the next row.
            if (sorted_[k].column == NameTable::unknown) sorted_[k].key = before;
            before = sorted_[k].key;
        }
        if (n > longest_to_insert)
            std::sort(sorted_.begin(), sorted_.end());
        else
            insert();
        for (std::size_t k = 0; k < n; ++k) order_[k] = sorted_[k].place;
        return sorted_;
    }

private:
    static constexpr std::size_t longest_to_insert = 64;

    void insert() {
        for (std::size_t k = 1; k < sorted_.size(); ++k) {
            const Entry entry = sorted_[k];
            std::size_t at = k;
            for (; at > 0 && entry < sorted_[at - 1]; --at) sorted_[at] = sorted_[at - 1];
            if (at != k) sorted_[at] = entry;
        }
    }

    std::vector<Entry> entries_, sorted_;
    std::vector<std::size_t> order_;
};

// A row a token with increasing columns; equal ones are summed, and what is zero or has no column is left out.
struct TokenRows {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;

    void append(TokenRow& row) {
        const std::vector<TokenRow::Entry>& entries = row.sorted();
        for (std::size_t k = 0; k < entries.size();) {
            const std::int32_t key = entries[k].key;
            double sum = 0.0;
            for (; k < entries.size() && entries[k].key == key; ++k)
                sum += entries[k].column == NameTable::unknown ? 0.0 : entries[k].value;
            if (sum == 0.0) continue;
            columns.push_back(key);
            values.push_back(sum);
        }
        indptr.push_back(static_cast<std::int64_t>(columns.size()));
    }

    // Room for all rows, if the others are like those that are there: vectors that grow are copied, and their memory is new.
    void expect(std::size_t n_rows) {
        const std::size_t n = columns.size() * n_rows / (indptr.size() - 1) * 9 / 8;
        indptr.reserve(n_rows + 1);
        columns.reserve(n);
        values.reserve(n);
    }

    using Arrays = std::tuple<std::vector<std::int64_t>, std::vector<std::int32_t>, std::vector<double>>;
    Arrays arrays() && { return {std::move(indptr), std::move(columns), std::move(values)}; }
};

// Rows of numbered names, with name k in column `column_of[k]`, or left out where it has none.
inline TokenRows::Arrays attribute_rows(std::span<const std::int64_t> indptr, std::span<const std::int32_t> numbers,
                                        std::span<const double> values, std::span<const std::int32_t> column_of) {
    TokenRows rows;
    rows.indptr.reserve(indptr.size());
    rows.columns.reserve(numbers.size());
    rows.values.reserve(numbers.size());
    TokenRow row;
    for (std::size_t token = 0; token + 1 < indptr.size(); ++token) {
        row.clear();
        for (std::int64_t k = indptr[token]; k < indptr[token + 1]; ++k) row(column_of[numbers[k]], values[k]);
        rows.append(row);
    }
    return std::move(rows).arrays();
}

}  // namespace structlearn
