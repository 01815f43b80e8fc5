"""Files of this library, edited on purpose: what stands in them is changed, and the digest is made again."""

import copy
from contextlib import suppress

import numpy as np

NUMBERS = [-1, 0, 1, 2, 3, 7, 255, 2**15, 2**31 - 1, 2**31, 2**40, 2**63, 10**30, 0.5, -0.5, 1e308]
ODD = [None, True, False, "", "x", "\n", "O", [], {}, [[]], float("nan"), float("inf"), -float("inf")]
ODD += [{"float": "nan"}, {"float": "inf"}, {"tuple": []}, {"mapping": []}, {"tensor": "0"}, {"set": ["x", 1]}]
ODD += [{"scalar": "<f8"}, {"bytes": "00"}, {"object": "Chain", "options": {"mapping": []}}]
ODD += [{"array": ["x"], "dtype": "<U400000000", "shape": [1]}, {"array": [1], "dtype": "<i4", "shape": [1]}]
ODD += [{"places": "0", "values": "1", "shape": [400_000_000]}]


def edited(metadata, tensors, random):
    """Both with one to three things changed, others shared."""
    metadata, tensors = copy.deepcopy(metadata), dict(tensors)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        if tensors and random.random() < 0.2:
            name = random.choice(sorted(tensors))
            tensors[name] = edited_tensor(tensors[name], random)
        else:
            with suppress(RecursionError):  # of what an edit before nested
                edit(metadata, random)
    return metadata, tensors


def edit(metadata, random):
    """Changes one value somewhere; each key at the top is as likely as the others, however much stands below it."""
    holder, key = metadata, random.choice(sorted(metadata))
    while random.random() < 0.95 and isinstance(holder[key], list | dict) and holder[key]:
        holder = holder[key]
        key = random.randrange(len(holder)) if isinstance(holder, list) else random.choice(sorted(holder))
    if isinstance(holder, dict) and random.random() < 0.1:
        value = holder.pop(key)
        if random.random() < 0.5:
            holder[key + "x"] = value
        return
    holder[key] = changed(holder[key], random, metadata)


def changed(value, random, metadata):
    if random.random() < 0.15:
        return copy.deepcopy(random.choice(ODD))
    if random.random() < 0.1:
        return copy.deepcopy(anything_of(metadata, random))
    match value:
        case bool() | None:
            return random.choice([True, False, None, 2])
        case int() | float():
            return random.choice([*NUMBERS, value + 1, value - 1, -value, float(value), str(value)])
        case str():
            return random.choice(["", "x", value + "x", value * 50, value[:-1], value.upper(), len(value), [value]])
        case list():
            return changed_list(value, random)
    return random.choice([[value], list(value), {"tuple": [value]}, nested(value, random)])


def changed_list(value, random):
    k = random.randrange(len(value) + 1)
    again = value[k : k + 1] * random.choice([1, 2, 5, 1000])
    return random.choice(
        [value[:k], value[:k] + again + value[k:], value[::-1], [value], [*value, 0], nested(value, random)]
    )


def nested(value, random):
    for _ in range(random.choice([1, 3, 400])):
        value = random.choice([[value], {"tuple": [value]}, {"mapping": [["x", value]]}])
    return value


def anything_of(metadata, random):
    value = metadata
    while isinstance(value, list | dict) and value and random.random() < 0.9:
        value = random.choice(value) if isinstance(value, list) else value[random.choice(sorted(value))]
    return value


def edited_tensor(tensor, random):
    match random.randrange(5):
        case 0:
            kinds = ["<f4", "<f8", "<i4", "<i8", "|u1", "|b1", "<u4"]
            with np.errstate(all="ignore"):
                return tensor.astype(random.choice(kinds))
        case 1:
            return random.choice(
                [tensor[:-1], tensor[:0], np.concatenate([tensor, tensor]), tensor[None], tensor[::-1]]
            )
        case 2:
            return tensor.reshape(random.choice([(-1, 1), (1, -1), (-1,)]))
    tensor = tensor.copy()
    extremes = [-1, 0, 1, 2**31 - 1, -(2**31), 2**40]
    if tensor.dtype.kind == "f":
        extremes += [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-310]
    if tensor.size:
        value = np.array(random.choice(extremes))
        with np.errstate(all="ignore"):
            tensor.reshape(-1)[random.randrange(tensor.size)] = value.astype(tensor.dtype)
    return tensor
