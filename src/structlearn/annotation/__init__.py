"""Files and fitted estimators: what these take of files, and files with what these predict."""
