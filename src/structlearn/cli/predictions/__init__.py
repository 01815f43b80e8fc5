"""What `structlearn predict` writes."""
