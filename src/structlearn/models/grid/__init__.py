"""Labels of the pixels of images."""
