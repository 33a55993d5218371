"""What a user writes, as immutable values: expressions, windows, calls. Nothing here depends on a frame."""
