"""Biological sequences: DNA and sites in it, alignments of two sequences, substitution scores, annotated letters."""
