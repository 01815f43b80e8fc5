#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <vector>

#include "dual/block.hpp"

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
            if (block.alpha()[k] > 0.0) variables_.push_back({i, k});
        const bool tight = block.sigma() >= block.u * (1.0 - 1e-12);
        if (variables_.size() > begin) groups_.push_back({begin, variables_.size(), tight});
    }

    const std::vector<Variable>& variables() const { return variables_; }
    // Whether the budget of the first block is exhausted.
    bool tight() const { return !groups_.empty() && groups_.front().tight; }

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
                if (v[j] < 0.0) longest = std::min(longest, -block(j).alpha()[variables_[j].plane] / v[j]);
            }
            const DualBlock& dual = block(group.begin);
            if (!group.tight && sum > 0.0) longest = std::min(longest, (dual.u - dual.sigma()) / sum);
        }
        return longest;
    }

    // The nearest v that leaves the spent budgets as they are.
    void project(std::vector<double>& v) const {
        for (const Group& group : groups_) {
            if (!group.tight) continue;
            const auto first = v.begin() + static_cast<std::ptrdiff_t>(group.begin);
            const auto last = v.begin() + static_cast<std::ptrdiff_t>(group.end);
            const double mean = std::accumulate(first, last, 0.0) / static_cast<double>(group.end - group.begin);
            for (auto entry = first; entry != last; ++entry) *entry -= mean;
        }
    }

    static double dot(const std::vector<double>& left, const std::vector<double>& right) {
        return std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
    }

private:
    struct Group {
        std::size_t begin, end;
        bool tight;
    };

    std::vector<Variable> variables_;
    std::vector<Group> groups_;
};

// The t in (0, longest] that maximises the dual along v; 0 if there is nothing to gain or no finite step.
inline double best_step(const std::vector<double>& v, const std::vector<double>& gradient,
                        const std::vector<double>& curved, double longest) {
    const double slope = Face::dot(v, gradient);
    const double curvature = Face::dot(v, curved);
    const double t = curvature > 0.0 ? std::min(slope / curvature, longest) : longest;
    return slope > 0.0 && std::isfinite(t) ? t : 0.0;
}

// α + change, where what is left of a multiplier that was driven to zero is rounding.
inline double moved(double alpha, double change) {
    return alpha + change > 1e-13 * alpha ? alpha + change : 0.0;
}

// w += Σ_j v[j] a row of the j-th variable, block by block.
template <class Sets>
void add_to_weights(Sets& sets, const std::vector<Face::Variable>& variables, const std::vector<double>& v, double* w) {
    std::vector<double> factors;
    for (std::size_t j = 0; j < variables.size();) {
        const std::int64_t i = variables[j].block;
        factors.assign(static_cast<std::size_t>(sets.n_planes(i)), 0.0);
        for (; j < variables.size() && variables[j].block == i; ++j) factors[variables[j].plane] = v[j];
        sets.add_rows(i, factors.data(), w);
    }
}

// The step t v, for the first of these t that gains enough, bent into the feasible set, many borders at once: multipliers stop at zero and a block that spends too much
// is scaled to its budget, and weights at zero where they may not be negative. Taken, and true returned, if it gains more
// than `gain`, what the straight step to the first border does.
template <class Sets>
bool bend(Sets& sets, const std::vector<Face::Variable>& variables, const std::vector<double>& v,
          std::initializer_list<double> lengths, double gain, double* w, std::vector<double>& image) {
    const std::size_t n = variables.size();
    const Nonnegative nonnegative = sets.nonnegative();
    const double before = sets.linear_part() - 0.5 * sets.squared_norm(w);
    std::vector<double> old(n);
    auto alpha = [&](std::size_t j) -> double& { return sets.dual(variables[j].block).alpha()[variables[j].plane]; };
    for (std::size_t j = 0; j < n; ++j) old[j] = alpha(j);
    for (const double t : lengths) {
        for (std::size_t j = 0; j < n; ++j) alpha(j) = moved(old[j], t * v[j]);
        for (std::size_t j = 0; j < n; ++j) {
            DualBlock& block = sets.dual(variables[j].block);
            const double sigma = block.sigma();
            if (sigma > block.u)
                for (double& multiplier : block.alpha()) multiplier *= block.u / sigma;
        }
        std::copy_n(w, sets.n_weights(), image.begin());
        std::vector<double> change(n);
        for (std::size_t j = 0; j < n; ++j) change[j] = alpha(j) - old[j];
        add_to_weights(sets, variables, change, image.data());
        sets.nonnegative().clip(image.data());
        if (sets.linear_part() - 0.5 * sets.squared_norm(image.data()) > before + gain) {
            std::copy(image.begin(), image.end(), w);
            return true;
        }
        sets.nonnegative() = nonnegative;
    }
    for (std::size_t j = 0; j < n; ++j) alpha(j) = old[j];
    return false;
}

// A step of conjugate gradients on the face of all blocks; products with the Hessian go through the weights. Returns
// whether the step ended at the border, so that another one, on the smaller face, may go further.
template <class Sets>
bool ascend_on_face(Sets& sets, double* w, int max_steps) {
    Face face;
    for (std::int64_t i = 0; i < sets.n_blocks(); ++i) face.add_block(i, sets.dual(i));
    const auto& variables = face.variables();
    const std::size_t n = variables.size();
    auto block = [&](std::size_t j) -> DualBlock& { return sets.dual(variables[j].block); };
    std::vector<double> here;
    std::vector<double> gradient(n);
    for (std::size_t j = 0; j < n;) {
        const std::int64_t i = variables[j].block;
        const double paid = sets.dual(i).r * sets.dual(i).sigma();
        sets.measure(i, w, here);
        for (; j < n && variables[j].block == i; ++j) gradient[j] = here[variables[j].plane] - paid;
    }
    std::vector<double> image(static_cast<std::size_t>(sets.n_weights()));
    auto multiply = [&](const std::vector<double>& v, std::vector<double>& out) {
        std::fill(image.begin(), image.end(), 0.0);
        add_to_weights(sets, variables, v, image.data());
        sets.nonnegative().absorb(image.data());
        for (std::size_t j = 0; j < n;) {
            const std::int64_t i = variables[j].block;
            const std::size_t begin = j;
            double sum = 0.0;
            sets.scaled_dots(i, image.data(), here);
            for (; j < n && variables[j].block == i; ++j) {
                out[j] = here[variables[j].plane];
                sum += v[j];
            }
            for (std::size_t l = begin; l < j; ++l) out[l] += sets.dual(i).r * sum;
        }
    };
    const std::vector<double> v = face.direction(gradient, max_steps, multiply);
    std::vector<double> curved(n);
    multiply(v, curved);
    const double longest = face.longest_step(v, block);
    const double t = best_step(v, gradient, curved, longest);
    if (!(t > 0.0)) return false;
    const double gain = t * (Face::dot(v, gradient) - 0.5 * t * Face::dot(v, curved));
    // Where weights come to their bounds on the way, the dual is no parabola: what counts is whether it grows.
    if (!sets.nonnegative().empty())
        return bend(sets, variables, v, {1.0, 0.3, 0.1, t, 0.1 * t, 0.01 * t}, 0.0, w, image);
    if (t == longest && bend(sets, variables, v, {1.0, 0.3, 0.1}, gain, w, image)) return true;
    for (std::size_t j = 0; j < n; ++j) {
        double& alpha = block(j).alpha()[variables[j].plane];
        alpha = moved(alpha, t * v[j]);
        curved[j] = t * v[j];
    }
    add_to_weights(sets, variables, curved, w);
    return t == longest;
}

// The v that solves  Hv = gradient  for a positive definite H, (n, n) row by row, of which the upper triangle is read and
// overwritten; Σ v = 0 where `tight`. Nothing if H is not positive definite. Elimination by rows, which compilers vectorise
// without changing the order of sums.
inline std::vector<double> cholesky_direction(std::vector<double>& H, const std::vector<double>& gradient, bool tight) {
    const std::size_t n = gradient.size();
    for (std::size_t k = 0; k < n; ++k) {
        double* pivot = &H[k * n];
        if (!(pivot[k] > 0.0)) return {};
        const double scale = 1.0 / std::sqrt(pivot[k]);
        for (std::size_t l = k; l < n; ++l) pivot[l] *= scale;
        for (std::size_t j = k + 1; j < n; ++j)
            for (std::size_t l = j; l < n; ++l) H[j * n + l] -= pivot[j] * pivot[l];
    }
    auto solve = [&](std::vector<double> v) {
        for (std::size_t k = 0; k < n; ++k) {
            v[k] /= H[k * n + k];
            for (std::size_t l = k + 1; l < n; ++l) v[l] -= v[k] * H[k * n + l];
        }
        for (std::size_t k = n; k-- > 0;) {
            for (std::size_t l = k + 1; l < n; ++l) v[k] -= H[k * n + l] * v[l];
            v[k] /= H[k * n + k];
        }
        return v;
    };
    std::vector<double> v = solve(gradient);
    if (!tight) return v;
    const std::vector<double> ones = solve(std::vector<double>(n, 1.0));
    const double multiplier =
        std::accumulate(v.begin(), v.end(), 0.0) / std::accumulate(ones.begin(), ones.end(), 0.0);
    for (std::size_t j = 0; j < n; ++j) v[j] -= multiplier * ones[j];
    return v;
}

// A step on the face of one block alone, with its Gram matrix: to the maximum there or, as above, to the border. Rows may
// depend on each other, so the matrix gets a little more on its diagonal; the step is an ascent all the same.
inline bool ascend_alone_on_face(DualBlock& block) {
    Face face;
    face.add_block(0, block);
    const auto& variables = face.variables();
    const std::size_t n = variables.size();
    if (n == 0) return false;
    std::vector<double> gradient(n), H(n * n);
    double paid = block.r * block.sigma(), trace = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        const double* products = block.products(variables[j].plane);
        double norm = 0.0;
        for (std::size_t l = 0; l < n; ++l) {
            H[j * n + l] = products[variables[l].plane] + block.r;
            norm += products[variables[l].plane] * block.alpha()[variables[l].plane];
        }
        trace += H[j * n + j];
        gradient[j] = block.b()[variables[j].plane] - norm - paid;
    }
    std::vector<double> factors = H;
    for (std::size_t j = 0; j < n; ++j) factors[j * n + j] += 1e-11 * trace / static_cast<double>(n);
    std::vector<double> v = cholesky_direction(factors, gradient, face.tight());
    if (v.empty()) return false;
    face.project(v);
    std::vector<double> curved(n, 0.0);
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t l = 0; l < n; ++l) curved[l] += v[j] * H[j * n + l];
    const double longest = face.longest_step(v, [&](std::size_t) -> const DualBlock& { return block; });
    const double t = best_step(v, gradient, curved, longest);
    if (!(t > 0.0)) return false;
    for (std::size_t j = 0; j < n; ++j) {
        double& alpha = block.alpha()[variables[j].plane];
        alpha = moved(alpha, t * v[j]);
    }
    return t == longest;
}

}  // namespace structlearn
