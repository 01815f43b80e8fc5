#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "linear/vector.hpp"

namespace structlearn {

// Which weights there are where not every feature has one for every part: those of a row, which is a feature, stand in slices
// of w. A pair of row and part may come into being when it is first needed; it is appended then, so that the index of a weight
// never changes. A slice that is full is followed by one twice its size.
class PairLayout {
public:
    struct Slice {
        std::int64_t begin = 0;  // in w
        std::int32_t size = 0;
        std::int32_t capacity = 0;
        std::int32_t next = end_of_slices;  // in `later_`

        bool whole() const { return next == has_every_part; }
    };

    // No pairs yet; weights before `first` are none of this layout.
    PairLayout(std::int64_t first, std::int64_t n_rows)
        : first_(first), reserved_(first), rows_(static_cast<std::size_t>(n_rows), Slice{first, 0, 0, end_of_slices}) {}

    // Row r has the parts parts[indptr[r]], …, parts[indptr[r + 1] − 1], in increasing order.
    PairLayout(std::int64_t first, std::span<const std::int64_t> indptr, std::span<const std::int32_t> parts)
        : PairLayout(first, static_cast<std::int64_t>(indptr.size()) - 1) {
        parts_.assign(parts.begin(), parts.end());
        reserved_ = first_ + static_cast<std::int64_t>(parts_.size());
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            const auto size = static_cast<std::int32_t>(indptr[r + 1] - indptr[r]);
            rows_[r] = {first_ + indptr[r], size, size, end_of_slices};
            if (size > 0 && parts[indptr[r + 1] - 1] == size - 1) rows_[r].next = has_every_part;
        }
    }

    std::int64_t first() const { return first_; }
    std::int64_t n_rows() const { return static_cast<std::int64_t>(rows_.size()); }
    // How many weights vectors need: some more than there are, so that they need not grow with every pair.
    std::int64_t n_weights() const { return reserved_; }

    // Gives an empty row a weight for each of `width` parts.
    void fill_row(std::int64_t row, std::int64_t width) {
        rows_[row] = appended(static_cast<std::int32_t>(width));
        rows_[row].size = rows_[row].capacity;
        rows_[row].next = has_every_part;
        for (std::int32_t part = 0; part < rows_[row].size; ++part) part_at(rows_[row].begin + part) = part;
    }

    // Makes room for some pairs of an empty row, so that they come to stand together.
    void reserve_row(std::int64_t row, std::int64_t capacity) { rows_[row] = appended(static_cast<std::int32_t>(capacity)); }

    // The weight of a pair, −1 if it has none. What came first, as the truths did, is found first.
    std::int64_t find(std::int64_t row, std::int32_t part) const {
        const Slice* slice = &rows_[row];
        if (slice->whole()) return part < slice->size ? slice->begin + part : -1;
        for (;; slice = &later_[slice->next]) {
            const std::int32_t at = position(parts_.data() + (slice->begin - first_), slice->size, part);
            if (at >= 0) return slice->begin + at;
            if (slice->next == end_of_slices) return -1;
        }
    }
    double weight(std::int64_t row, std::int32_t part, const double* w) const {
        const std::int64_t index = find(row, part);
        return index < 0 ? 0.0 : w[index];
    }

    // Asks for the memory of some rows before it is needed: misses of the cache then overlap.
    void prefetch(std::int64_t first_row, const std::int32_t* columns, std::int64_t count, const double* w) const {
        for (std::int64_t k = 0; k < count; ++k) __builtin_prefetch(&rows_[first_row + columns[k]]);
        for (std::int64_t k = 0; k < count; ++k) {
            const std::int64_t begin = rows_[first_row + columns[k]].begin;
            __builtin_prefetch(parts_.data() + (begin - first_));
            __builtin_prefetch(w + begin);
        }
    }

    // Gives a pair a weight, unless it has one.
    void touch(std::int64_t row, std::int32_t part) {
        if (find(row, part) >= 0) return;
        Slice* slice = &rows_[row];
        while (slice->next != end_of_slices) slice = &later_[slice->next];
        if (slice->size == slice->capacity) {
            const Slice next = appended(std::max(2, 2 * slice->capacity));
            if (slice->capacity > 0) {
                slice->next = static_cast<std::int32_t>(later_.size());
                slice = &later_.emplace_back(next);
            } else {
                *slice = next;
            }
        }
        part_at(slice->begin + slice->size++) = part;
    }

    // theta[part] += x w[row, part]
    void add_scores(std::int64_t row, double x, const double* w, double* theta) const {
        each_slice(row, [&](const Slice& slice, const std::int32_t* parts) {
            const double* weights = w + slice.begin;
            if (slice.whole()) return add_scaled(slice.size, x, weights, theta);
            for (std::int32_t k = 0; k < slice.size; ++k) theta[parts[k]] += x * weights[k];
        });
    }
    // w[row, part] += x change[part] for the pairs that there are; returns by how much ‖w‖² grows.
    double push(std::int64_t row, double x, const double* change, double* w) const {
        double growth = 0.0;
        each_slice(row, [&](const Slice& slice, const std::int32_t* parts) {
            for (std::int32_t k = 0; k < slice.size; ++k) {
                const double more = x * change[parts[k]];
                double& weight = w[slice.begin + k];
                growth += more * (weight + weight + more);
                weight += more;
            }
        });
        return growth;
    }

    // Calls visit(row, part, index) for every pair, row after row.
    template <class Visit>
    void each(Visit&& visit) const {
        for (std::int64_t row = 0; row < n_rows(); ++row)
            each_slice(row, [&](const Slice& slice, const std::int32_t* parts) {
                for (std::int32_t k = 0; k < slice.size; ++k) visit(row, parts[k], slice.begin + k);
            });
    }

    std::size_t nbytes() const {
        return sizeof(Slice) * (rows_.capacity() + later_.capacity()) + sizeof(std::int32_t) * parts_.capacity();
    }

    // Everything, for a file, and back; what is given must have been checked.
    struct Written {
        std::vector<std::int64_t> slices;  // begin, size, capacity, next of each: the first ones of the rows, then the others
        std::vector<std::int32_t> parts;
        std::int64_t reserved;
    };
    Written write() const {
        Written out{{}, parts_, reserved_};
        for (const std::vector<Slice>* list : {&rows_, &later_})
            for (const Slice& slice : *list)
                out.slices.insert(out.slices.end(), {slice.begin, slice.size, slice.capacity, slice.next});
        return out;
    }
    // False, and nothing changed, if the arrays are none that a layout of these rows with parts below `width` writes.
    bool read(std::span<const std::int64_t> slices, std::span<const std::int32_t> parts, std::int64_t reserved,
              std::int64_t width) {
        const auto size = static_cast<std::int64_t>(parts.size());
        const auto n = static_cast<std::int64_t>(slices.size() / 4);
        if (slices.size() % 4 != 0 || n < n_rows() || reserved < first_ + size || reserved > first_ + 2 * size + 2 * spare) return false;
        if (std::ranges::any_of(parts, [&](std::int32_t part) { return part < -1 || part >= width; })) return false;
        std::vector<Slice> found;
        for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t *s = &slices[4 * k], row = k - n_rows();
            const bool inside = s[0] >= 0 && s[0] <= first_ + size && s[2] >= 0 && s[2] <= size && s[1] >= 0 && s[1] <= s[2];
            if (!inside || (s[2] > 0 && (s[0] < first_ || s[0] + s[2] > first_ + size))) return false;
            // Slices lead to those that came after them, so that no row goes round in circles.
            const bool ends = s[3] == end_of_slices || (s[3] == has_every_part && row < 0);
            if (!ends && (s[3] <= row || s[3] < 0 || s[3] >= n - n_rows())) return false;
            for (std::int64_t j = 0; j < s[1]; ++j)
                if (parts[s[0] - first_ + j] < 0 || (s[3] == has_every_part && parts[s[0] - first_ + j] != j)) return false;
            found.push_back({s[0], static_cast<std::int32_t>(s[1]), static_cast<std::int32_t>(s[2]), static_cast<std::int32_t>(s[3])});
        }
        rows_.assign(found.begin(), found.begin() + n_rows());
        later_.assign(found.begin() + n_rows(), found.end());
        parts_.assign(parts.begin(), parts.end());
        reserved_ = reserved;
        return true;
    }

private:
    static constexpr std::int32_t end_of_slices = -1, has_every_part = -2;
    static constexpr std::int64_t spare = 1024;

    template <class Visit>
    void each_slice(std::int64_t row, Visit&& visit) const {
        for (const Slice* slice = &rows_[row];; slice = &later_[slice->next]) {
            visit(*slice, parts_.data() + (slice->begin - first_));
            if (slice->next < 0) return;
        }
    }
    // Where a part is in a list, −1 if nowhere; eight comparisons at once need no branch.
    static std::int32_t position(const std::int32_t* parts, std::int32_t size, std::int32_t part) {
        std::int32_t k = 0;
        for (; k + 8 <= size; k += 8) {
            bool any = false;
            for (std::int32_t lane = 0; lane < 8; ++lane) any |= parts[k + lane] == part;
            if (any) break;
        }
        for (; k < size; ++k)
            if (parts[k] == part) return k;
        return -1;
    }
    std::int32_t& part_at(std::int64_t index) { return parts_[index - first_]; }
    Slice appended(std::int32_t capacity) {
        const std::int64_t begin = first_ + static_cast<std::int64_t>(parts_.size());
        parts_.resize(parts_.size() + static_cast<std::size_t>(capacity), -1);
        const std::int64_t end = begin + capacity;
        if (end > reserved_) reserved_ = end + (end - first_) / 8 + spare;
        return {begin, 0, capacity, end_of_slices};
    }

    std::int64_t first_;
    std::int64_t reserved_;
    std::vector<Slice> rows_, later_;
    std::vector<std::int32_t> parts_;  // of every weight from `first_` on, −1 for those without a pair
};

}  // namespace structlearn
