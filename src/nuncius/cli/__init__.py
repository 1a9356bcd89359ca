"""The command line: thin, no decisions."""
