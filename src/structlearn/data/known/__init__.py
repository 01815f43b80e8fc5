"""What is known of outputs: the restrictions that models and decoders take as `allowed`."""
