"""Alignments of two sequences, and homologues found by them."""
