"""Command text to facts: what would run, with what effects."""
