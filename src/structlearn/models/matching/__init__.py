"""Matchings of two sides."""
