"""Harness dialects as data."""
