"""One file per command family."""
