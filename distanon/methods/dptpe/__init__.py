"""Data perturbation by neighborhood topological potential entropy."""

from distanon.methods.dptpe.method import DPTPE

__all__ = ["DPTPE"]
