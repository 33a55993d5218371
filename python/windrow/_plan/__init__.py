"""Plans: from the outputs of a query and the columns of a frame to steps."""
