"""Scalar expressions, in the words of those who evaluate them."""
