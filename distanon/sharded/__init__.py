"""Kernels spread over the workers of a crew."""
