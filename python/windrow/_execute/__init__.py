"""Running a plan over Arrow data: in memory, as a stream, or with an external sort."""
