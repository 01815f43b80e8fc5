#include "bindings/differences.hpp"
#include "bindings/problems.hpp"
#include "chain/decoding.hpp"

namespace structlearn::bindings {

nb::class_<Chain> bind_chain(nb::module_& module) {
    nb::class_<Tokens>(module, "Tokens")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, std::variant<Vector<double>, Vector<float>>,
                      std::int64_t>());
    nb::class_<Chain> chain(module, "Chain");
    bind_differences<ChainData>(chain);
    chain
        .def(nb::init<const Tokens&, Vector<std::int64_t>, std::int64_t, double, bool, std::optional<Tokens>,
                      std::optional<Vector<std::uint8_t>>, std::optional<Vector<std::uint8_t>>,
                      std::optional<Vector<std::uint8_t>>>(),
             nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg("pair_tokens").none() = nb::none(),
             nb::arg("allowed_labels").none() = nb::none(), nb::arg("allowed_transitions").none() = nb::none(),
             nb::arg("kept").none() = nb::none())
        .def("best", unlocked_method<Chain>(&best_sequences<FirstOrder>))
        .def("loss_augmented", unlocked_method<Chain>(&loss_augmented_sequences<FirstOrder>))
        .def("k_best", unlocked_method<Chain>(&k_best_sequences))
        .def("most_violating_level", unlocked_method<Chain>(&most_violating_levels))
        .def("best_per_level", unlocked_method<Chain>(&best_per_level));
    return chain;
}

}  // namespace structlearn::bindings
