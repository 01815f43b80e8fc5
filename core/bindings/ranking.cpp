#include "ranking/most_violating.hpp"

#include "batch/parallel.hpp"
#include "bindings/arrays.hpp"

namespace structlearn::bindings {

namespace {

// Runs work(begin, size, worker) for the documents of every query, with a worker a thread.
template <class Worker, class Work>
void for_each_query(const Vector<std::int64_t>& offsets, int n_threads, Work&& work) {
    std::vector<Worker> workers(static_cast<std::size_t>(std::max(n_threads, 1)));
    const std::int64_t* at = offsets.data();
    parallel_for(static_cast<std::int64_t>(offsets.shape(0)) - 1, n_threads, [&](std::int64_t q, int thread) {
        work(q, at[q], at[q + 1] - at[q], workers[static_cast<std::size_t>(thread)]);
    });
}

struct Nothing {};

}  // namespace

void bind_ranking(nb::module_& module) {
    module.def(
        "rank",
        [](std::optional<Vector<std::int32_t>> tiers, Vector<double> keys, Vector<std::int64_t> offsets,
           MutableVector<std::int32_t> out, int n_threads) {
            nb::gil_scoped_release unlocked;
            for_each_query<Nothing>(offsets, n_threads, [&](auto, auto begin, auto size, Nothing&) {
                rank(tiers ? tiers->data() + begin : nullptr, keys.data() + begin, size, out.data() + begin);
            });
        },
        nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
    module.def("swapped_pairs", [](Vector<std::int32_t> orders, Vector<std::int64_t> order_offsets,
                                   Vector<std::int32_t> grades, Vector<std::int64_t> offsets,
                                   MutableVector<double> above, MutableVector<double> below, int n_threads) {
        nb::gil_scoped_release unlocked;
        for_each_query<SwappedPairs>(offsets, n_threads, [&](auto q, auto begin, auto size, SwappedPairs& pairs) {
            const std::int64_t at = order_offsets.data()[q];
            pairs.count(orders.data() + at, order_offsets.data()[q + 1] - at, grades.data() + begin, size,
                        above.data() + begin, below.data() + begin);
        });
    });
    module.def("least_precise", [](Vector<double> scores, Vector<std::uint8_t> relevant, Vector<std::int64_t> offsets,
                                   MutableVector<std::int32_t> out, int n_threads) {
        nb::gil_scoped_release unlocked;
        for_each_query<LeastPrecise>(offsets, n_threads, [&](auto, auto begin, auto size, LeastPrecise& least) {
            least.run(scores.data() + begin, relevant.data() + begin, size, out.data() + begin);
        });
    });
    module.def("least_gain", [](Vector<double> scores, Vector<std::int32_t> grades, Vector<double> gains,
                                Vector<double> weights, Vector<double> pairs, std::int64_t k,
                                Vector<std::int64_t> offsets, MutableVector<std::int32_t> out, int n_threads) {
        nb::gil_scoped_release unlocked;
        for_each_query<LeastGain>(offsets, n_threads, [&](auto q, auto begin, auto size, LeastGain& least) {
            least.run(scores.data() + begin, grades.data() + begin, gains.data() + begin, weights.data() + begin,
                      pairs.data()[q], std::min(k, size), size, out.data() + begin);
        });
    });
    module.def("least_f1", [](Vector<double> scores, Vector<std::uint8_t> positive, Vector<std::int64_t> offsets,
                              MutableVector<std::uint8_t> out, int n_threads) {
        nb::gil_scoped_release unlocked;
        for_each_query<LeastF1>(offsets, n_threads, [&](auto, auto begin, auto size, LeastF1& least) {
            least.run(scores.data() + begin, positive.data() + begin, size, out.data() + begin);
        });
    });
}

}  // namespace structlearn::bindings
