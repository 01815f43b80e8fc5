#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "graph/forest_moves.hpp"
#include "relaxations/dual_ascent.hpp"

namespace structlearn {

// Exact search: the bounds are those of dual ascent, with clusters added at the root. A node of the tree forbids labels;
// its children say y_i = x and y_i ≠ x of a variable where the decoded labels lose most against the bound, and begin
// with the messages of their parent. Depth first for a number of backtracks, then from the open node with the largest
// bound (hybrid best-first search, Allouche et al. 2015), so that the bound on all comes down while labels get better.
class BranchAndBound {
public:
    explicit BranchAndBound(const FactorGraph& graph, bool tighten);

    // Works for about so many seconds; false when the best labels are proven.
    bool step(double seconds);

    double score() const { return dual_.score(); }
    std::span<const std::int32_t> labels() const { return dual_.labels(); }
    // On all labellings.
    double bound() const;
    std::size_t n_nodes() const { return n_nodes_; }
    std::size_t n_open() const { return open_.size() + frames_.size(); }
    std::size_t n_clusters() const { return dual_.n_clusters(); }

private:
    // Label x of a variable i stands at place unary_offsets[i] + x: 2 · place says y_i = x, 2 · place + 1 says y_i ≠ x.
    using Decision = std::int64_t;
    // A second child that waits while the first is searched.
    struct Frame {
        DualAscent::State state;
        Decision decision;
        std::size_t depth;
    };
    struct Open {
        double bound;
        std::vector<Decision> decisions;
        bool operator<(const Open& other) const { return bound < other.bound; }
    };
    enum class Phase { root, search, done };

    void improve_labels(double passes);
    void improve_root();
    void begin_search();
    void advance();
    void descend();
    bool backtrack();
    bool reopen();
    void leave_open();
    bool evaluate();
    void apply(Decision decision);
    std::int32_t conflict_variable() const;
    double cutoff() const;
    void set_cutoff() { dual_.set_cutoff(cutoff()); }

    DualAscent dual_;
    ForestMoves moves_;
    double moved_score_ = minus_infinity;
    bool tighten_;
    Phase phase_ = Phase::root;
    std::vector<double> root_bounds_;
    DualAscent::State root_;
    bool pruned_ = false;
    std::vector<Decision> decisions_;
    std::vector<Frame> frames_;
    std::priority_queue<Open> open_;
    std::size_t open_decisions_ = 0, n_nodes_ = 0, backtracks_ = 0;
};

}  // namespace structlearn
