#include "batch/parallel.hpp"

#include <pthread.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

namespace structlearn {

namespace {

// Looks so often before going to sleep: what others are about to do mostly takes less time than waking up.
constexpr int looks = 2000;

template <class T, class Holds>
T wait_until(const std::atomic<T>& value, Holds&& holds) {
    for (int look = 0;; ++look) {
        const T found = value.load(std::memory_order_acquire);
        if (holds(found)) return found;
        if (look >= looks) value.wait(found, std::memory_order_acquire);
    }
}

// Threads that sleep until there is work, the caller being the first of them. New threads begin on the core of the one that
// made them, and chunks of work have mostly ended before the system moves them to another: these stay where they are.
class Team {
public:
    // Calls work(thread) for thread = 0, …, n_threads − 1 and returns when all have ended. `work` must not throw.
    void run(int n_threads, const std::function<void(int)>& work) {
        start(n_threads, work);
        work(0);
        wait();
    }

    // The same for all threads but the first, which is the caller's.
    void start(int n_threads, const std::function<void(int)>& work) {
        while (static_cast<int>(helpers_.size()) < n_threads - 1) {
            const int thread = static_cast<int>(helpers_.size()) + 1;
            auto helper = std::make_unique<Helper>();
            std::thread([this, thread, own = helper.get()] { help(thread, *own); }).detach();
            helpers_.push_back(std::move(helper));
        }
        work_ = &work;
        busy_.store(n_threads - 1, std::memory_order_relaxed);
        for (int helper = 0; helper < n_threads - 1; ++helper) {
            helpers_[helper]->calls.fetch_add(1, std::memory_order_release);
            helpers_[helper]->calls.notify_one();
        }
    }
    void wait() { wait_until(busy_, [](int busy) { return busy == 0; }); }

private:
    struct alignas(64) Helper {
        std::atomic<unsigned> calls{0};
    };

    void help(int thread, Helper& own) {
        for (unsigned done = 0;; ++done) {
            own.calls.wait(done, std::memory_order_acquire);
            (*work_)(thread);
            if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
        }
    }

    const std::function<void(int)>* work_ = nullptr;
    alignas(64) std::atomic<int> busy_{0};
    std::vector<std::unique_ptr<Helper>> helpers_;
};

// Teams without work. None is ever destroyed: its threads may still sleep when the process ends.
struct Idle {
    std::mutex mutex;
    std::vector<Team*> teams;
};

std::atomic<Idle*> idle_teams{nullptr};

Idle& idle() {
    static const bool made = [] {
        idle_teams = new Idle;
        // A forked process has none of these threads, and maybe a mutex that nobody will unlock.
        pthread_atfork(nullptr, nullptr, [] { idle_teams = new Idle; });
        return true;
    }();
    static_cast<void>(made);
    return *idle_teams;
}

// Calls from several threads of the user have a team each.
class Borrowed {
public:
    Borrowed() : idle_(idle()) {
        const std::lock_guard lock(idle_.mutex);
        if (idle_.teams.empty()) {
            team_ = new Team;
        } else {
            team_ = idle_.teams.back();
            idle_.teams.pop_back();
        }
    }
    ~Borrowed() {
        const std::lock_guard lock(idle_.mutex);
        idle_.teams.push_back(team_);
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    Team* operator->() { return team_; }

private:
    Idle& idle_;
    Team* team_;
};

}  // namespace

struct Beside::Task {
    std::function<void(int)> work;
    std::exception_ptr failure;
    Borrowed team;
};

Beside::Beside() = default;
Beside::~Beside() {
    if (task_) task_->team->wait();
}

void Beside::start(std::function<void()> work) {
    task_ = std::make_unique<Task>();
    task_->work = [work = std::move(work), task = task_.get()](int) {
        try {
            work();
        } catch (...) {
            task->failure = std::current_exception();
        }
    };
    task_->team->start(2, task_->work);
}

void Beside::wait() {
    if (!task_) return;
    task_->team->wait();
    const auto task = std::move(task_);
    if (task->failure) std::rethrow_exception(task->failure);
}

void in_threads(int n_threads, const std::function<void(int)>& work) {
    if (n_threads == 1) return work(0);
    std::exception_ptr failure;
    std::mutex failure_mutex;
    Borrowed()->run(n_threads, [&](int thread) {
        try {
            work(thread);
        } catch (...) {
            const std::lock_guard lock(failure_mutex);
            if (!failure) failure = std::current_exception();
        }
    });
    if (failure) std::rethrow_exception(failure);
}

void parallel_pieces(std::int64_t n_items, int n_threads, const Piece& work) {
    n_threads = static_cast<int>(std::clamp<std::int64_t>(n_items, 1, std::max(n_threads, 1)));
    if (n_threads == 1) return work(0, n_items, 0);
    const std::int64_t grain = std::max<std::int64_t>(1, n_items / (std::int64_t{8} * n_threads));
    std::atomic<std::int64_t> next{0};
    in_threads(n_threads, [&](int thread) {
        try {
            for (;;) {
                const std::int64_t begin = next.fetch_add(grain);
                if (begin >= n_items) return;
                work(begin, std::min(begin + grain, n_items), thread);
            }
        } catch (...) {
            next = n_items;
            throw;
        }
    });
}

}  // namespace structlearn
