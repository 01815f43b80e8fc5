#pragma once

#include <cstdint>

#include "linear/dense.hpp"

namespace structlearn {

// The passes over a row of scores that assignments are made of; price is one number a column.

// Whether all scores are numbers below +∞.
bool all_scores(MatrixView<double> scores);

struct TopTwo {
    double first, second;
};

// The two largest score[j] − price[j]; −∞ where there are not as many.
TopTwo top_two(std::int64_t n, const double* score, const double* price);

// The first j from `begin` on with score[j] − price[j] = value; n if there is none.
std::int64_t find_difference(std::int64_t begin, std::int64_t n, const double* score, const double* price, double value);

// The first j from `begin` on with x[j] = value; n if there is none.
std::int64_t find_value(std::int64_t begin, std::int64_t n, const double* x, double value);

// best[j] = max(best[j], score[j]), and which[j] = row where it grew.
void raise_maxima(std::int64_t n, const double* score, std::int32_t row, double* best, std::int32_t* which);

struct Nearest {
    double any, end;
};

// distance[j] = min(distance[j], base + price[j] − score[j]), and from[j] = row where it fell. Returns the least distance, and
// the least of distance[j] + more[j].
Nearest relax(std::int64_t n, double base, const double* price, const double* score, std::int32_t row, const double* more,
              double* distance, std::int32_t* from);

}  // namespace structlearn
