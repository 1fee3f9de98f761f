"""Read-only pages over the journal."""
