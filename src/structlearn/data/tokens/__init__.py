"""Sequences of tokens: their features as one matrix, tags, and the segments that tags stand for."""
