"""What nuncius does with papers: add, search, retrieve, answer, export."""
