"""Machines: fed events, they yield commands."""
