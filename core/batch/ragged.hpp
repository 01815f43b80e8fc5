#pragma once

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

namespace structlearn {

// An output as numbers, whose meaning its structure says.
using Codes = std::vector<std::int32_t>;

// Offsets of lists that lie one after another, one list for each of the examples; their sum is the last one.
template <class Size>
std::vector<std::int64_t> offsets_of(std::span<const std::int64_t> examples, Size&& size) {
    std::vector<std::int64_t> offsets{0};
    offsets.reserve(examples.size() + 1);
    for (const std::int64_t i : examples) offsets.push_back(offsets.back() + size(i));
    return offsets;
}

// Where lists of several lengths lie in one flat array: list i is [begin(i), end(i)). A view; there is one offset more than
// lists, and whoever has made them keeps them.
class Ragged {
public:
    Ragged() = default;
    Ragged(std::span<const std::int64_t> offsets)
        : offsets_(offsets.data()), count_(static_cast<std::int64_t>(offsets.size()) - 1) {}

    std::int64_t count() const { return count_; }
    std::int64_t total() const { return offsets_[count_]; }
    std::int64_t begin(std::int64_t i) const { return offsets_[i]; }
    std::int64_t end(std::int64_t i) const { return offsets_[i + 1]; }
    std::int64_t size(std::int64_t i) const { return offsets_[i + 1] - offsets_[i]; }

    // The last list that begins at or before a place.
    std::int64_t holding(std::int64_t place) const {
        return std::upper_bound(offsets_, offsets_ + count_ + 1, place) - offsets_ - 1;
    }

    // List i of a flat array.
    template <class T>
    std::span<const T> of(std::span<const T> flat, std::int64_t i) const {
        return {flat.data() + begin(i), flat.data() + end(i)};
    }

    // Offsets of the chosen lists gathered one after another, `copies` of each.
    std::vector<std::int64_t> gathered(std::span<const std::int64_t> chosen, std::int64_t copies = 1) const {
        return offsets_of(chosen, [&](std::int64_t i) { return copies * size(i); });
    }

private:
    const std::int64_t* offsets_ = nullptr;
    std::int64_t count_ = 0;
};

// The same where every list has one entry, as labels of examples do.
struct Single {
    static std::int64_t begin(std::int64_t i) { return i; }
    static auto gathered(std::span<const std::int64_t> chosen) { return std::views::iota(std::size_t{0}, chosen.size()); }
};

// Lists that it keeps itself.
template <class T>
struct RaggedArray {
    std::vector<T> values;
    std::vector<std::int64_t> offsets{0};

    RaggedArray() = default;
    explicit RaggedArray(const std::vector<std::vector<T>>& lists) {
        for (const std::vector<T>& list : lists) append(list);
    }

    void append(const std::vector<T>& list) {
        values.insert(values.end(), list.begin(), list.end());
        offsets.push_back(static_cast<std::int64_t>(values.size()));
    }
};

}  // namespace structlearn
