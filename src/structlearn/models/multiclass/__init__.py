"""One label an example."""
