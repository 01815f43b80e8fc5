"""Engines on factor graphs: from scores of labels, pairs and larger groups to labellings, bounds and marginals."""
