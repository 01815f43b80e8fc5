#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "dual_block.hpp"

namespace structlearn {

// The multipliers that are free to move at the present active set: α_k > 0, where in a block with an exhausted budget
// they can only be exchanged. Pairwise steps find the right active set but crawl along it when the problem is
// ill-conditioned; conjugate gradients on the face get there in as many steps as there are directions.
class Face {
public:
    struct Variable {
        std::int64_t block;
        std::int64_t plane;
    };

    void add_block(std::int64_t i, const DualBlock& block) {
        const std::size_t begin = variables_.size();
        for (std::int64_t k = 0; k < block.size(); ++k)
            if (block.alpha[k] > 0.0) variables_.push_back({i, k});
        const bool tight = block.sigma() >= block.u * (1.0 - 1e-12);
        if (variables_.size() > begin) groups_.push_back({begin, variables_.size(), tight});
    }

    const std::vector<Variable>& variables() const { return variables_; }

    // An approximate solution v of  Hv = gradient  on the face, by at most `max_steps` conjugate gradients;
    // multiply(v, out) writes Hv for the free multipliers.
    template <class Multiply>
    std::vector<double> direction(std::vector<double> gradient, int max_steps, Multiply&& multiply) const {
        const std::size_t n = variables_.size();
        std::vector<double> v(n, 0.0);
        std::vector<double> curved(n);
        const double unprojected = dot(gradient, gradient);
        project(gradient);
        std::vector<double> along = gradient;
        double size = dot(gradient, gradient);
        // Below this the projected gradient is rounding, and a step along it noise.
        if (size <= 1e-24 * unprojected) return v;
        const double enough = 1e-20 * size;
        for (int step = 0; step < max_steps && size > enough; ++step) {
            multiply(along, curved);
            const double bend = dot(along, along) * 1e-14 * std::sqrt(dot(curved, curved) / dot(along, along));
            project(curved);
            const double curvature = dot(along, curved);
            if (!(curvature > bend)) {
                // Nothing bends this way: follow it to the border of the face.
                if (step == 0) return along;
                break;
            }
            const double t = size / curvature;
            for (std::size_t k = 0; k < n; ++k) v[k] += t * along[k], gradient[k] -= t * curved[k];
            const double next = dot(gradient, gradient);
            for (std::size_t k = 0; k < n; ++k) along[k] = gradient[k] + next / size * along[k];
            size = next;
            project(along);
        }
        project(v);
        return v;
    }

    // The largest t for which α + t v stays in the feasible set.
    template <class Block>
    double longest_step(const std::vector<double>& v, Block&& block) const {
        double longest = std::numeric_limits<double>::infinity();
        for (const Group& group : groups_) {
            double sum = 0.0;
            for (std::size_t j = group.begin; j < group.end; ++j) {
                sum += v[j];
                if (v[j] < 0.0) longest = std::min(longest, -block(j).alpha[variables_[j].plane] / v[j]);
            }
            const DualBlock& dual = block(group.begin);
            if (!group.tight && sum > 0.0) longest = std::min(longest, (dual.u - dual.sigma()) / sum);
        }
        return longest;
    }

    static double dot(const std::vector<double>& left, const std::vector<double>& right) {
        return std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
    }

private:
    struct Group {
        std::size_t begin, end;
        bool tight;
    };

    void project(std::vector<double>& v) const {
        for (const Group& group : groups_) {
            if (!group.tight) continue;
            const auto first = v.begin() + static_cast<std::ptrdiff_t>(group.begin);
            const auto last = v.begin() + static_cast<std::ptrdiff_t>(group.end);
            const double mean = std::accumulate(first, last, 0.0) / static_cast<double>(group.end - group.begin);
            for (auto entry = first; entry != last; ++entry) *entry -= mean;
        }
    }

    std::vector<Variable> variables_;
    std::vector<Group> groups_;
};

}  // namespace structlearn
