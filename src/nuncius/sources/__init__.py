"""Clients of the remote services: one file a service, and the languages that they ask for."""
