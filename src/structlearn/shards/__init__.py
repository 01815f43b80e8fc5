"""Corpora larger than memory: features and labels of tokens in files that are mapped, written a shard at a time."""

from structlearn.shards.reading import Shards, open_shards
from structlearn.shards.writing import write_shards

__all__ = ["Shards", "open_shards", "write_shards"]
