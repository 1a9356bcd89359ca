"""Ground floor: data, events, errors and models of settings; no input or output."""
