"""The HTTP interface: a thin face over `app`, for the web page and for programs."""
