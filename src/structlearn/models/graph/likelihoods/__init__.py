"""What stands for the likelihood of graphs of any width, a file each, on the scores of parts."""
