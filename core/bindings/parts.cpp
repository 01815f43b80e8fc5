#include "parts/problem.hpp"

#include "alignment/parts.hpp"
#include "bindings/problems.hpp"
#include "bindings/unlocked.hpp"
#include "chain/parts.hpp"
#include "chain/second_order_parts.hpp"
#include "grammar/parts.hpp"
#include "multiclass/parts.hpp"
#include "segments/parts.hpp"

namespace structlearn::bindings {

namespace {

// What all problems whose outputs are sums of parts have in common.
template <class Parts, class Data, class Problem>
void bind(nb::class_<Problem>& problem) {
    problem.def("part_scores", unlocked_method<Problem>(&part_scores<Parts, Data>))
        .def("part_sums", unlocked_method<Problem>(&part_sums<Parts, Data>))
        .def("push", unlocked_method<Problem>(&push<Parts, Data>))
        .def("indicators", unlocked_method<Problem>(&indicators<Parts, Data>))
        .def("log_losses", unlocked_method<Problem>(&log_losses<Parts, Data>), nb::arg(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg())
        .def("mix", unlocked_method<Problem>(&mix<Parts, Data>))
        .def("exponentiate", unlocked_method<Problem>(&exponentiate<Parts, Data>), nb::arg(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
}

// Of outputs that are codes of a known length.
template <class Parts, class Data, class Problem>
void bind_samples(nb::class_<Problem>& problem) {
    problem.def("samples", unlocked_method<Problem>(&samples<Parts, Data>));
}

}  // namespace

void bind_parts(nb::class_<Chain>& chain, nb::class_<SecondOrderChain>& second_order, nb::class_<Segments>& segments,
                nb::class_<Multiclass>& multiclass, nb::class_<Grammar>& grammar, nb::class_<Alignment>& alignment) {
    bind<ChainParts, ChainData>(chain);
    bind<SecondOrderParts, SecondOrderData>(second_order);
    bind<SegmentParts, SegmentData>(segments);
    bind<MulticlassParts, MulticlassData>(multiclass);
    bind<AlignmentParts, AlignmentData>(alignment);
    bind<GrammarParts, GrammarData>(grammar);
    chain.def("marginals", unlocked_method<Chain>(&sequence_marginals));
    bind_samples<ChainParts, ChainData>(chain);
    bind_samples<SecondOrderParts, SecondOrderData>(second_order);
    bind_samples<SegmentParts, SegmentData>(segments);
    bind_samples<AlignmentParts, AlignmentData>(alignment);
}

}  // namespace structlearn::bindings
