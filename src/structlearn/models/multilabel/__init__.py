"""Sets of labels."""
