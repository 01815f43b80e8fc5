#include "relaxations/dual_ascent.hpp"

#include "bindings/graphs/factor_graph.hpp"

namespace structlearn::bindings {

namespace {

// A dual solver with the unaries that it was given last.
struct BoundDualAscent {
    explicit BoundDualAscent(const FactorGraphArrays& graph) : data(graph.data) {}

    void set_unaries(Vector<double> fresh) {
        unaries = std::move(fresh);
        data.set_unaries(view(unaries));
    }
    // Stops early where nothing is left to be gained.
    void passes(std::size_t count) {
        nb::gil_scoped_release unlocked;
        for (std::size_t k = 0; k < count && data.bound() != minus_infinity; ++k) data.pass();
    }
    std::size_t tighten(std::size_t most) {
        nb::gil_scoped_release unlocked;
        return data.tighten(most);
    }
    void begin_with(const Vector<double>& messages) {
        if (messages.size() != data.messages().size())
            throw std::invalid_argument("there are " + std::to_string(messages.size()) + " messages; expected " +
                                        std::to_string(data.messages().size()));
        data.begin_with(view(messages));
    }
    auto messages() const { return to_numpy(std::vector<double>(data.messages().begin(), data.messages().end())); }
    auto alive() {
        return to_numpy(std::vector<std::uint8_t>(data.alive()));
    }
    auto labels() const { return to_numpy(std::vector<std::int32_t>(data.labels().begin(), data.labels().end())); }

    Vector<double> unaries;
    DualAscent data;
};

}  // namespace

void bind_dual_ascent(nb::module_& module) {
    nb::class_<BoundDualAscent>(module, "DualAscent")
        .def(nb::init<const FactorGraphArrays&>(), nb::arg("graph"), nb::keep_alive<1, 2>())
        .def("passes", &BoundDualAscent::passes, nb::arg("count"))
        .def("tighten", &BoundDualAscent::tighten, nb::arg("most"))
        .def("set_unaries", &BoundDualAscent::set_unaries, nb::arg("unaries"))
        .def("set_cutoff", [](BoundDualAscent& dual, double score) { dual.data.set_cutoff(score); }, nb::arg("score"))
        .def("begin_with", &BoundDualAscent::begin_with, nb::arg("messages"))
        .def("messages", &BoundDualAscent::messages)
        .def("alive", &BoundDualAscent::alive)
        .def("labels", &BoundDualAscent::labels)
        .def_prop_ro("bound", [](const BoundDualAscent& dual) { return dual.data.bound(); })
        .def_prop_ro("score", [](const BoundDualAscent& dual) { return dual.data.score(); })
        .def_prop_ro("n_clusters", [](const BoundDualAscent& dual) { return dual.data.n_clusters(); });
}

}  // namespace structlearn::bindings
