"""Numbered steps of the database's schema: forward only, never edited once released."""
