#include "motif/scan.hpp"

#include "bindings/unlocked.hpp"

namespace structlearn::bindings {

namespace {

// A bound Motif; holding the arrays keeps them alive.
struct Motif {
    Motif(Vector<std::int64_t> offsets_, Vector<std::int16_t> words_, Vector<std::int16_t> contexts_,
          Vector<std::int64_t> widths_, bool both_strands)
        : offsets(std::move(offsets_)),
          words(std::move(words_)),
          contexts(std::move(contexts_)),
          widths(std::move(widths_)),
          data{view(offsets), words.data(), contexts.data(), view(widths), both_strands} {}
    Motif(const Motif&) = delete;

    Vector<std::int64_t> offsets;
    Vector<std::int16_t> words, contexts;
    Vector<std::int64_t> widths;
    MotifData data;
};

}  // namespace

void bind_motif(nb::module_& module) {
    nb::class_<Motif>(module, "Motif")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int16_t>, Vector<std::int16_t>, Vector<std::int64_t>, bool>(),
             nb::arg("offsets"), nb::arg("words"), nb::arg("contexts"), nb::arg("widths"), nb::arg("both_strands"))
        .def("best", unlocked_method<Motif>(&best_sites))
        .def("between", unlocked_method<Motif>(&site_differences));
}

}  // namespace structlearn::bindings
