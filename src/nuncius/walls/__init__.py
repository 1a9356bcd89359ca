"""The one path guard, the one spawn, the one door to the network."""
