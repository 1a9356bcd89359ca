"""What the model can do; one file a family, discovered by reading this folder."""
