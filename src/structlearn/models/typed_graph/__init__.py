"""Graphs with nodes of several types, and factors by template."""
