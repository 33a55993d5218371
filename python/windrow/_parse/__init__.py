"""Parsers: SQL text, types and items are converted to the model."""
