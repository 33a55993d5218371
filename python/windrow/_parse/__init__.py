"""SQL text, types and items as users write them, read into the model."""
