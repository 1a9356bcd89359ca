"""What models are told, as Markdown."""
