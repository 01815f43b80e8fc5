import json

import numpy as np
import pytest

from structlearn.persistence.codec import decode, encode


@pytest.mark.parametrize("share", [0.0, 0.1, 0.9])
def test_arrays_come_back_to_the_bit_and_take_no_more_room_than_needed(share):
    random = np.random.default_rng(0)
    numbers = random.choice([-0.0, 1.5, 1e-300], size=(60, 50))
    array = np.where(random.random((60, 50)) < share, numbers, 0.0)
    tensors = {}
    text = json.dumps(encode(array, "array", tensors))
    again = decode(json.loads(text), tensors)
    assert (again.shape, again.tobytes()) == (array.shape, array.tobytes())
    assert sum(tensor.nbytes for tensor in tensors.values()) <= min(1.0, 1.6 * share) * array.nbytes


def test_parts_of_an_array_that_do_not_fit_are_refused():
    tensors = {}
    encoded = encode(np.eye(100), "array", tensors)
    for changed in ({"shape": [9, 9]}, {"values": "missing"}):
        with pytest.raises(ValueError, match=r"do not fit|lacks the array"):
            decode(encoded | changed, tensors)
    tensors[encoded["values"]] = np.ones(3)
    with pytest.raises(ValueError, match="do not fit"):
        decode(encoded, tensors)


def test_what_is_not_registered_is_neither_written_nor_built():
    with pytest.raises(TypeError, match="cannot be saved"):
        encode(object(), "thing")
    for name in ("os", "Model", "Solver", "load", "__import__"):
        with pytest.raises(ValueError, match="does not know"):
            decode({"object": name, "options": {"mapping": []}})
