"""Learners of functions whose values are vectors that stand for outputs."""
