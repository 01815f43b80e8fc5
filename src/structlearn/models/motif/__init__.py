"""A pattern hidden in sequences of DNA."""
