"""What `check` says of a file: counts, and places that look odd."""
