"""A call and its profile to facts: effects with evidence."""
