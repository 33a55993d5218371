"""Scalar expressions, converted for the libraries that evaluate them."""
