"""Label sequences."""
