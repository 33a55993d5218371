"""Plans computed over Arrow data: in memory, as a stream, or sorted by way of the disk."""
