"""Rankings and joint labels of the documents of a query."""
