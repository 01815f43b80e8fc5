#include "relaxations/branch_and_bound.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace structlearn {

namespace {

// Of the score: labellings that are better by less are not looked for, and count as proven.
constexpr double rounding = 2.5e-10;
// Passes go on at a node while one of them closes this share of the gap.
constexpr double worthwhile = 0.05;
constexpr std::size_t most_passes = 50;
// At the root: passes in one round, and rounds after which clusters must have gained something.
constexpr std::size_t root_passes = 10;
constexpr std::size_t root_rounds = 10;
// Depth first between two looks at the open nodes.
constexpr std::size_t most_backtracks = 100;
// Of decisions in open nodes, and of states that wait: beyond, the search is depth first alone, and second children begin
// with whatever messages there are.
constexpr std::size_t most_decisions = std::size_t{1} << 25;
constexpr std::size_t most_state_bytes = std::size_t{1} << 29;

}  // namespace

BranchAndBound::BranchAndBound(const FactorGraph& graph, bool tighten) : dual_(graph), moves_(dual_.graph(), dual_.adjacency(), 0), tighten_(tighten) {
    dual_.watch_conflicts();
    root_.bound = infinity;
}

double BranchAndBound::cutoff() const {
    const double score = dual_.score();
    return score == minus_infinity ? minus_infinity : score + rounding * std::max(1.0, std::abs(score));
}

double BranchAndBound::bound() const {
    if (phase_ == Phase::root) return dual_.bound();
    double largest = cutoff();
    if (phase_ == Phase::done) return largest;
    if (!pruned_) largest = std::max(largest, dual_.bound());
    if (!open_.empty()) largest = std::max(largest, open_.top().bound);
    for (const auto& frame : frames_) largest = std::max(largest, frame.state.bound);
    return std::min(largest, root_.bound);
}

bool BranchAndBound::step(double seconds) {
    const auto begin = std::chrono::steady_clock::now();
    while (phase_ != Phase::done) {
        if (phase_ == Phase::root)
            improve_root();
        else
            advance();
        if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds) break;
    }
    return phase_ != Phase::done;
}

// Local search from the best labels, for as much work as a share of some passes.
void BranchAndBound::improve_labels(double passes) {
    if (dual_.score() != moved_score_) moves_.start(dual_.labels());
    if (moves_.run(static_cast<std::int64_t>(passes * dual_.pass_work()))) dual_.offer(moves_.labels());
    moved_score_ = dual_.score();
}

// Passes while they gain, then clusters, and so on until a number of rounds has gained little.
void BranchAndBound::improve_root() {
    const double before = dual_.bound();
    for (std::size_t k = 0; k < root_passes && dual_.bound() > cutoff(); ++k) {
        set_cutoff();
        dual_.pass();
    }
    improve_labels(2.0 * root_passes);
    root_bounds_.push_back(dual_.bound());
    if (dual_.bound() <= cutoff()) {
        phase_ = Phase::done;
        return;
    }
    const double little = 0.02 * (dual_.bound() - dual_.score());
    if (before - dual_.bound() > little) return;
    const bool waits = root_bounds_.size() <= root_rounds ||
                       root_bounds_[root_bounds_.size() - 1 - root_rounds] - dual_.bound() > little;
    if (tighten_ && waits && (dual_.tighten(std::max<std::size_t>(20, dual_.graph().n_variables() / 2)) > 0 ||
                              before - dual_.bound() > 0.01 * little))
        return;
    begin_search();
}

void BranchAndBound::begin_search() {
    root_ = dual_.state();
    phase_ = Phase::search;
    pruned_ = !evaluate();
}

// One node.
void BranchAndBound::advance() {
    if (!pruned_) {
        if (backtracks_ >= most_backtracks && open_decisions_ < most_decisions)
            leave_open();
        else
            return descend();
    }
    if (backtrack() || reopen()) return;
    phase_ = Phase::done;
    open_ = {};
}

void BranchAndBound::descend() {
    const auto i = conflict_variable();
    // With one label each, the decoded labels are all there is; only rounding can keep the bound above them.
    if (i < 0) {
        pruned_ = true;
        return;
    }
    const auto place = dual_.graph().unary_offsets[i] + dual_.decoded()[i];
    Frame frame{{}, 2 * place + 1, decisions_.size()};
    if (frames_.size() * dual_.state_bytes() < most_state_bytes)
        frame.state = dual_.state();
    else
        frame.state.alive = dual_.alive(), frame.state.bound = dual_.bound();
    frames_.push_back(std::move(frame));
    apply(2 * place);
    pruned_ = !evaluate();
}

bool BranchAndBound::backtrack() {
    while (!frames_.empty()) {
        Frame frame = std::move(frames_.back());
        frames_.pop_back();
        if (frame.state.bound <= cutoff()) continue;
        ++backtracks_;
        if (frame.state.messages.empty()) {
            dual_.alive() = std::move(frame.state.alive);
            dual_.forget_bound();
        } else {
            dual_.restore(frame.state);
        }
        decisions_.resize(frame.depth);
        apply(frame.decision);
        pruned_ = !evaluate();
        return true;
    }
    return false;
}

bool BranchAndBound::reopen() {
    if (open_.empty() || open_.top().bound <= cutoff()) return false;
    const Open next = open_.top();
    open_.pop();
    open_decisions_ -= next.decisions.size();
    backtracks_ = 0;
    dual_.restore(root_);
    decisions_.clear();
    for (const auto decision : next.decisions) apply(decision);
    pruned_ = !evaluate();
    return true;
}

// The node at hand and those that wait become open ones.
void BranchAndBound::leave_open() {
    const auto add = [&](double bound, std::vector<Decision> decisions) {
        open_decisions_ += decisions.size();
        open_.push({bound, std::move(decisions)});
    };
    add(dual_.bound(), decisions_);
    for (const auto& frame : frames_) {
        std::vector<Decision> path(decisions_.begin(), decisions_.begin() + static_cast<std::ptrdiff_t>(frame.depth));
        path.push_back(frame.decision);
        add(frame.state.bound, std::move(path));
    }
    frames_.clear();
    pruned_ = true;
}

void BranchAndBound::apply(Decision decision) {
    decisions_.push_back(decision);
    const auto& offsets = dual_.graph().unary_offsets;
    const auto place = decision / 2;
    auto& alive = dual_.alive();
    if (decision % 2 == 1) {
        alive[place] = 0;
        return;
    }
    const auto end = std::upper_bound(offsets.begin(), offsets.end(), place);
    std::fill(alive.begin() + *(end - 1), alive.begin() + *end, std::uint8_t{0});
    alive[place] = 1;
}

// Whether something better may be below the node.
bool BranchAndBound::evaluate() {
    ++n_nodes_;
    improve_labels(0.5);
    double before = infinity;
    for (std::size_t k = 0; k < most_passes; ++k) {
        set_cutoff();
        const double after = dual_.pass();
        if (after <= cutoff()) return false;
        if (k > 0 && !(before - after > worthwhile * (after - dual_.score()))) break;
        before = after;
    }
    return true;
}

std::int32_t BranchAndBound::conflict_variable() const {
    std::int32_t best = -1;
    for (std::size_t i = 0; i < dual_.graph().n_variables(); ++i) {
        const auto alive = dual_.alive(i);
        if (std::count(alive.begin(), alive.end(), 1) < 2) continue;
        if (best < 0 || dual_.conflicts()[i] > dual_.conflicts()[best]) best = static_cast<std::int32_t>(i);
    }
    return best;
}

}  // namespace structlearn
