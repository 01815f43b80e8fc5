#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace structlearn {

// The difference of two outputs whose parts do not stand at the same places: calls visit(part, −1) for the parts that the first
// alone has, and visit(−1, part) for those of the second.
template <class Structure, class Visit>
void moves_between_parts(const Structure& structure, std::int64_t i, const std::int32_t* codes, const std::int32_t* other,
                         Visit&& visit) {
    auto parts_of = [&](const std::int32_t* output) {
        std::vector<std::int64_t> parts;
        structure.each_part(i, output, [&](std::int64_t part) { parts.push_back(part); });
        std::sort(parts.begin(), parts.end());
        return parts;
    };
    const auto plus = parts_of(codes), minus = parts_of(other);
    std::vector<std::int64_t> only;
    std::ranges::set_difference(plus, minus, std::back_inserter(only));
    for (const std::int64_t part : only) visit(part, -1);
    only.clear();
    std::ranges::set_difference(minus, plus, std::back_inserter(only));
    for (const std::int64_t part : only) visit(-1, part);
}

}  // namespace structlearn
