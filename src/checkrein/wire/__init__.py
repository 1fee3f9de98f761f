"""Bytes to values and back, incremental; any chunking gives the same values."""
