#include "linear/sparse.hpp"

#include <algorithm>

namespace structlearn {

void RowBuilder::sort() {
    std::sort(entries_.begin(), entries_.end(), [](auto& a, auto& b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (std::size_t k = 0; k < entries_.size();) {
        auto [index, sum] = entries_[k];
        for (++k; k < entries_.size() && entries_[k].first == index; ++k) sum += entries_[k].second;
        if (sum != 0.0) entries_[kept++] = {index, sum};
    }
    entries_.resize(kept);
}

void CsrRows::append(const RowBuilder& row) {
    for (const auto& [index, value] : row.entries()) {
        indices.push_back(index);
        values.push_back(value);
    }
    indptr.push_back(static_cast<std::int64_t>(indices.size()));
}

}  // namespace structlearn
