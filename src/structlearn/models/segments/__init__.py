"""Segmentations of sequences."""
