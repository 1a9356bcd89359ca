"""Language models behind one protocol; provider quirks end here."""
