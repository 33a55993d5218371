"""What the Makefile is made of."""
