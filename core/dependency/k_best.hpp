#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "batch/ragged.hpp"
#include "dependency/edmonds.hpp"
#include "dependency/shape.hpp"

namespace structlearn {

// The k best trees, crossing arcs or not. Those that are not yet found are parted by the first token in which they differ from
// one that is (Lawler 1972): the codes of the tokens before are fixed, and some of its own excluded. O(n) searches of O(n²) for the
// next tree of n tokens.
class BestTrees {
public:
    // Appends up to k trees, best first, and their scores; `local` are the scores of labelled arcs, `arcs` those of the best labels.
    void run(const DependencyShape& shape, std::int64_t i, const double* local, const std::vector<double>& arcs,
             std::int64_t k, std::vector<Codes>& found, std::vector<double>& values) {
        shape_ = &shape, i_ = i, local_ = local, all_ = &arcs;
        parts_.clear(), serial_ = 0;
        const std::int64_t n = shape.length(i);
        look({0.0, 0, 0, {}, Codes(static_cast<std::size_t>(n))}, k);
        while (k-- > 0 && !parts_.empty()) {
            Part part = std::move(parts_.extract(std::prev(parts_.end())).value());
            for (std::int64_t token = part.fixed; k > 0 && token < n; ++token) {
                Part next{0.0, 0, token, {}, part.codes};
                if (token == part.fixed) next.excluded = part.excluded;
                next.excluded.push_back(part.codes[token]);
                look(std::move(next), k);
            }
            values.push_back(part.score);
            found.push_back(std::move(part.codes));
        }
    }

    // The code of the best label of an arc, and its score, −∞ if there is none.
    static std::pair<std::int32_t, double> best_label(const DependencyShape& shape, std::int64_t i, const double* local,
                                                      std::int64_t head, std::int64_t modifier,
                                                      const std::vector<std::int32_t>& excluded = {}) {
        std::pair<std::int32_t, double> best{-1, minus_infinity};
        if (!shape.allows_head(i, head, modifier)) return best;
        const double* scores = local + shape.arc(i, head, modifier);
        for (std::int64_t label = 0; label < shape.n_labels; ++label) {
            const auto code = static_cast<std::int32_t>(head * shape.n_labels + label);
            if (scores[label] > best.second && shape.allows_label(i, modifier, label) &&
                std::find(excluded.begin(), excluded.end(), code) == excluded.end())
                best = {code, scores[label]};
        }
        return best;
    }

private:
    struct Part {
        double score;
        std::int64_t serial;                 // of equal scores the one that was found first comes first
        std::int64_t fixed;                  // how many of the first tokens are
        std::vector<std::int32_t> excluded;  // codes of the token after them
        Codes codes;
        bool operator<(const Part& other) const {
            return score != other.score ? score < other.score : serial > other.serial;
        }
    };

    // Finds the best tree of a part, and remembers it unless k better ones are known.
    void look(Part part, std::int64_t k) {
        const std::int64_t n = shape_->length(i_), N = n + 1, L = shape_->n_labels;
        arcs_ = *all_;
        for (std::int64_t head = 0; head < N; ++head) {
            for (std::int64_t m = 1; m <= part.fixed; ++m)
                if (part.codes[m - 1] / L != head) arcs_[head * N + m] = minus_infinity;
            if (part.fixed < n)
                arcs_[head * N + part.fixed + 1] = best_label(*shape_, i_, local_, head, part.fixed + 1, part.excluded).second;
        }
        heads_.resize(static_cast<std::size_t>(n));
        if (!best_.run(n, shape_->single_root, arcs_.data(), heads_.data())) return;
        part.score = 0.0;
        for (std::int64_t m = 1; m <= n; ++m) {
            std::int32_t& code = part.codes[m - 1];
            if (m > part.fixed)
                code = best_label(*shape_, i_, local_, heads_[m - 1], m,
                                  m == part.fixed + 1 ? part.excluded : std::vector<std::int32_t>{})
                           .first;
            part.score += local_[shape_->arc(i_, code / L, m) + code % L];
        }
        part.serial = serial_++;
        parts_.insert(std::move(part));
        if (static_cast<std::int64_t>(parts_.size()) > k) parts_.erase(parts_.begin());
    }

    const DependencyShape* shape_ = nullptr;
    std::int64_t i_ = 0, serial_ = 0;
    const double* local_ = nullptr;
    const std::vector<double>* all_ = nullptr;
    BestArborescence best_;
    std::set<Part> parts_;
    std::vector<double> arcs_;
    std::vector<std::int32_t> heads_;
};

}  // namespace structlearn
