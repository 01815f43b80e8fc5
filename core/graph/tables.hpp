#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linear/vector.hpp"

namespace structlearn {

// out[l] = max_k table[k, l], and log Σ_k exp table[k, l], over rows of n.
void max_rows(std::int64_t rows, std::int64_t n, const double* table, double* out);
void log_sum_rows(std::int64_t rows, std::int64_t n, const double* table, double* out);

// How a table over some of the variables lies in one over all of them: for each axis of the large table its length and how
// far the small one moves along with it, 0 where it does not have the variable. Axes that move as one are joined.
class Spread {
public:
    void clear() { axes_.clear(); }

    // Axes come from the slowest to the fastest.
    void add_axis(std::int64_t length, std::int64_t step) {
        if (!axes_.empty() && axes_.back().step == step * length)
            axes_.back() = {axes_.back().length * length, step};
        else
            axes_.push_back({length, step});
    }

    // large[...] += small[...]
    void add(const double* small, double* large) {
        walk([&](std::int64_t from, std::int64_t length, std::int64_t step) {
            const double* row = small + from;
            if (step == 0)
                for (std::int64_t k = 0; k < length; ++k) large[k] += row[0];
            else if (step == 1)
                for (std::int64_t k = 0; k < length; ++k) large[k] += row[k];
            else
                for (std::int64_t k = 0; k < length; ++k) large[k] += row[k * step];
            large += length;
        });
    }

    // small[...] += large[...], summed over what it does not have.
    void sum(const double* large, double* small) {
        walk([&](std::int64_t to, std::int64_t length, std::int64_t step) {
            double* row = small + to;
            if (step == 0) {
                double total = 0.0;
                for (std::int64_t k = 0; k < length; ++k) total += large[k];
                row[0] += total;
            } else {
                for (std::int64_t k = 0; k < length; ++k) row[k * step] += large[k];
            }
            large += length;
        });
    }

private:
    struct Axis {
        std::int64_t length, step;
    };

    // Calls visit(place in the small table, length, step) for each run along the fastest axis.
    template <class Visit>
    void walk(Visit&& visit) {
        if (axes_.empty()) return visit(0, 1, 0);
        const std::size_t last = axes_.size() - 1;
        at_.assign(axes_.size(), 0);
        std::int64_t place = 0;
        for (;;) {
            visit(place, axes_[last].length, axes_[last].step);
            std::size_t k = last;
            for (; k-- > 0;) {
                place += axes_[k].step;
                if (++at_[k] < axes_[k].length) break;
                place -= axes_[k].step * axes_[k].length;
                at_[k] = 0;
            }
            if (k == static_cast<std::size_t>(-1)) return;
        }
    }

    std::vector<Axis> axes_;
    std::vector<std::int64_t> at_;
};

}  // namespace structlearn
