#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "grammar/data.hpp"

namespace structlearn {

// The true brackets of a sentence: for each cell and label whether there is one, (length + 1, length + 1, n_labels).
class GoldBrackets {
public:
    explicit GoldBrackets(const GrammarData& data) : data_(&data) {}

    void read(std::int64_t i) {
        n_ = data_->length(i);
        cells_.assign(static_cast<std::size_t>((n_ + 1) * (n_ + 1) * data_->rules->n_labels), 0);
        for (std::int64_t g = data_->brackets.begin(i); g < data_->brackets.end(i); ++g) {
            const std::int32_t* bracket = data_->gold + 3 * g;
            if (bracket[0] >= 0) cells_[at(bracket[0], bracket[1], bracket[2])] = 1;
        }
    }

    // Numbers of matching and of all brackets of a tree.
    std::pair<std::int64_t, std::int64_t> match(std::span<const std::int32_t> codes) const {
        std::pair<std::int64_t, std::int64_t> result{0, 0};
        walk_tree(*data_->rules, codes, [&](std::int32_t label, std::int64_t begin, std::int64_t end) {
            if (!data_->rules->counts[label]) return;
            result.first += cells_[at(label, begin, end)];
            ++result.second;
        });
        return result;
    }

    const std::vector<std::uint8_t>& cells() const { return cells_; }

private:
    std::int64_t at(std::int64_t label, std::int64_t begin, std::int64_t end) const {
        return (begin * (n_ + 1) + end) * data_->rules->n_labels + label;
    }

    const GrammarData* data_;
    std::int64_t n_ = 0;
    std::vector<std::uint8_t> cells_;
};

// Of trees, one for each entry of `examples`: the numbers of matching and of all brackets.
inline void count_matches(const GrammarData& data, std::span<const std::int64_t> examples,
                          std::span<const std::int32_t> codes, std::span<const std::int64_t> offsets,
                          std::span<std::int64_t> matching, std::span<std::int64_t> all) {
    GoldBrackets gold(data);
    for (std::size_t k = 0; k < examples.size(); ++k) {
        gold.read(examples[k]);
        std::tie(matching[k], all[k]) = gold.match(Ragged(offsets).of(codes, static_cast<std::int64_t>(k)));
    }
}

}  // namespace structlearn
