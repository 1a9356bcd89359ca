"""What is kept on disk; the only floor with SQL. Other floors see `store.protocols` alone."""
