"""A pattern somewhere in sequences of DNA."""
