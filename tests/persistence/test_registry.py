from collections import Counter

from structlearn import losses, models, solvers
from structlearn.io.formats import FORMATS, IMAGES
from structlearn.persistence import registry


def test_no_two_classes_that_files_may_ask_for_have_one_name():
    names = [
        *registry._HOMES,
        *(name for name in models.__all__ if registry.model_class(name)),
        *(name for name in losses.__all__ if registry.loss_class(name)),
        *(name for name in solvers.__all__ if isinstance(getattr(solvers, name), type)),
        *{kind.__name__ for kind in (*FORMATS.values(), *IMAGES.values())},
        *registry.emissions(),
        *registry.estimators(),
    ]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_files_may_ask_for_every_loss_of_the_library():
    for name in losses.__all__:
        kind = getattr(losses, name)
        if isinstance(kind, type) and issubclass(kind, losses.Loss) and not getattr(kind, "__abstractmethods__", None):
            assert registry.registered(name) is (kind if name != "Loss" else None)
