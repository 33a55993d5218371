"""What a user writes, as immutable values. Nothing in here knows a frame."""
