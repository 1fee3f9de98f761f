"""Facts and a policy to a verdict."""
