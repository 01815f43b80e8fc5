"""One engine a file, and what several of them share."""
