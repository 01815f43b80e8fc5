"""Clusterings of items described in pairs."""
