"""Typed graphs once more, as a plain slow class that lists all labellings."""

from itertools import combinations_with_replacement, product

import numpy as np


class EnumeratedTypedGraph:
    """x is (nodes, factors) or (nodes, factors, features); `templates` has (types, form) by their keys."""

    def __init__(self, classes, templates, *, weight=None, zero_one=False):
        self.classes = classes
        self.templates = templates
        self.weight = weight or {}
        self.zero_one = zero_one

    def joint_feature(self, x, y):
        nodes, factors, *more = x
        features = more[0] if more else {}
        blocks = []
        for kind, labels in self.classes.items():
            block = np.zeros((nodes[kind].shape[1], len(labels)))
            for row, label in zip(nodes[kind], y[kind], strict=True):
                block[:, labels.index(label)] += row
            blocks.append(block)
        for key, (types, form) in self.templates.items():
            scopes = factors.get(key, [])
            rows = features[key] if key in features else np.ones((len(scopes), 1))
            columns = self.columns(types, form)
            block = np.zeros((rows.shape[1], len(set(columns.values()))))
            for row, scope in zip(rows, scopes, strict=True):
                joint = tuple(y[kind][node] for kind, node in zip(types, scope, strict=True))
                if joint in columns:
                    block[:, columns[joint]] += row
            blocks.append(block)
        return np.concatenate([block.ravel() for block in blocks])

    def columns(self, types, form):
        """Which weight joint labels have, of those that have one."""
        joint = list(product(*(self.classes[kind] for kind in types)))
        if form == "free":
            return {labels: k for k, labels in enumerate(joint)}
        if form == "potts":
            return {labels: 0 for labels in joint if all(label == labels[0] for label in labels)}
        if form == "symmetric":
            known = self.classes[types[0]]
            multisets = list(combinations_with_replacement(known, len(types)))
            return {labels: multisets.index(tuple(sorted(labels, key=known.index))) for labels in joint}
        names = list(dict.fromkeys(form.values()))
        return {labels: names.index(name) for labels, name in form.items()}

    def loss(self, y, y_hat):
        wrong = [
            self.weight.get(kind, 1.0)
            for kind in self.classes
            for true, label in zip(y[kind], y_hat[kind], strict=True)
            if true != label
        ]
        return float(len(wrong) > 0) if self.zero_one else float(sum(wrong))

    def outputs(self, x):
        labellings = [product(labels, repeat=len(x[0][kind])) for kind, labels in self.classes.items()]
        return [
            {kind: list(labels) for kind, labels in zip(self.classes, chosen, strict=True)}
            for chosen in product(*labellings)
        ]

    def singles(self, x, y):
        """An array for each type, with a one for the label of each node."""
        return tuple(
            np.eye(len(labels))[[labels.index(label) for label in y[kind]]].reshape(-1, len(labels))
            for kind, labels in self.classes.items()
        )

    def joints(self, x, y):
        """An array for each template, with a one for the labels of the nodes of each factor."""
        found = []
        for key, (types, _) in self.templates.items():
            scopes = x[1].get(key, [])
            tables = np.zeros((len(scopes), *(len(self.classes[kind]) for kind in types)))
            for table, scope in zip(tables, scopes, strict=True):
                table[tuple(self.classes[kind].index(y[kind][v]) for kind, v in zip(types, scope, strict=True))] = 1
            found.append(tables)
        return tuple(found)


CLASSES = {"a": ["x", "y", "z"], "b": ["w", "y"]}
SHARED = {("x", "w", "x"): "both", ("z", "w", "z"): "both", ("y", "y", "x"): "one"}
TEMPLATES = {
    ("a", "a"): (("a", "a"), "symmetric"),
    "three": (("a", "b", "a"), "free"),
    ("a", "b"): (("a", "b"), "free"),
    "like": (("b", "a"), "potts"),
    "named": (("a", "b", "a"), SHARED),
}


def factors_option(templates=None):
    """The templates as the model takes them."""
    from structlearn.models import Factor

    return {
        key: form if isinstance(key, tuple) else Factor(types, form)
        for key, (types, form) in (templates or TEMPLATES).items()
    }


def typed_network(random, n_a, n_b, *, whole=False, features=("three", "like"), templates=None):
    """Nodes, and some of the factors that there could be."""
    nodes = {"a": random.normal(size=(n_a, 2)), "b": random.normal(size=(n_b, 1))}
    factors, rows = {}, {}
    for key, (types, _) in (templates or TEMPLATES).items():
        every = product(*(range(len(nodes[kind])) for kind in types))
        used = [list(zip(types, scope, strict=True)) for scope in every]
        proper = [scope for scope in used if len(set(scope)) == len(scope) and random.uniform() < 0.4]
        factors[key] = [tuple(v for _, v in scope) for scope in proper]
        if key in features:
            rows[key] = random.normal(size=(len(proper), 2))
    if whole:
        nodes = {kind: values.round() for kind, values in nodes.items()}
        rows = {key: values.round() for key, values in rows.items()}
    return nodes, factors, rows


def typed_labels(random, x, classes=None):
    return {
        kind: [labels[k] for k in random.integers(len(labels), size=len(x[0][kind]))]
        for kind, labels in (classes or CLASSES).items()
    }
