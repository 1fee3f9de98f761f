"""What is needed to rebuild a provider's model input."""
