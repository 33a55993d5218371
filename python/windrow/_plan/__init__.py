"""Outputs and the columns of a frame become what is computed, level by level."""
