"""Adjacency rows on few columns, by products whose sums have one order: no N × N, no BLAS.

Libraries' products give other last bits with other numbers of threads; these do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from distanon.kernels.fuzzy import read_only

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_SPARSITY = 3.0
"""One entry in three of a random basis is not 0."""
_RANK = 1e-10
"""A column is dropped when less than this share of its square is new."""
_ROUNDS = 24


def random_basis(uniforms: Floats) -> Floats:
    """A sparse random basis: squared distances are kept in the mean.

    Args:
        uniforms: float64, shape (n, d), in (0, 1): one row for each column of the adjacency.

    Returns:
        float64, shape (n, d): √(3/d) · (+1, 0, −1) with chances 1/6, 2/3, 1/6.

    Source: Achlioptas 2003; a distance is kept to within a factor of 1 ± ε with a chance of
    error of about 2 exp(-d (ε²/4 - ε³/6)).
    """
    size = np.sqrt(_SPARSITY / uniforms.shape[1])
    share = 0.5 / _SPARSITY
    basis: Floats = size * ((uniforms < share).astype(np.float64) - (uniforms > 1.0 - share))
    return basis


def leading_basis(starts: Integers, neighbors: NDArray[np.int32], first: Floats) -> Floats:
    """An orthonormal basis of the leading singular vectors of a symmetric adjacency matrix.

    Args:
        starts: int64, shape (n + 1,).
        neighbors: int32, shape (2m,).
        first: float64, shape (n, d): where the iteration starts, random.

    Returns:
        float64, shape (n, d). Columns beyond the matrix's rank are 0. Projected on it, rows have
        the distances that the truncated decomposition gives them.

    Source: Halko, Martinsson and Tropp 2011, randomized subspace iteration. O(rounds · (m d +
    n d²)).
    """
    basis = first
    for _ in range(_ROUNDS):
        basis = _orthonormal(project(starts, neighbors, basis))
    return _orthonormal(basis)


def project(starts: Integers, neighbors: NDArray[np.int32], basis: Floats) -> Floats:
    """The adjacency rows on a basis.

    Returns:
        float64, shape (n, d): for each node the sum of its neighbors' rows of the basis.
    """
    found: Floats = _project(
        read_only(starts), read_only(neighbors), read_only(np.ascontiguousarray(basis))
    )
    return found


def _orthonormal(columns: Floats) -> Floats:
    found: Floats = _solved(columns, _lower(_gram(columns)))
    return found


@njit(cache=True, nogil=True)
def _project(starts: Any, neighbors: Any, basis: Any) -> Any:
    found = np.zeros((len(starts) - 1, basis.shape[1]))
    for node in range(len(starts) - 1):
        row = found[node]
        for entry in range(starts[node], starts[node + 1]):
            other = basis[neighbors[entry]]
            for column in range(len(other)):
                row[column] += other[column]
    return found


@njit(cache=True, nogil=True)
def _gram(columns: Any) -> Any:
    width = columns.shape[1]
    gram = np.zeros((width, width))
    for node in range(len(columns)):
        row = columns[node]
        for i in range(width):
            value = row[i]
            for j in range(width):
                gram[i, j] += value * row[j]
    return gram


@njit(cache=True, nogil=True)
def _lower(gram: Any) -> Any:
    """The Cholesky factor; a column that adds nothing new has 0 on the diagonal."""
    width = len(gram)
    lower = np.zeros((width, width))
    for j in range(width):
        rest = gram[j, j]
        for k in range(j):
            rest -= lower[j, k] * lower[j, k]
        if rest <= _RANK * gram[j, j]:
            continue
        lower[j, j] = np.sqrt(rest)
        for i in range(j + 1, width):
            value = gram[i, j]
            for k in range(j):
                value -= lower[i, k] * lower[j, k]
            lower[i, j] = value / lower[j, j]
    return lower


@njit(cache=True, nogil=True)
def _solved(columns: Any, lower: Any) -> Any:
    """The columns times the inverse of the transposed factor: orthonormal."""
    found = np.zeros(columns.shape)
    for node in range(len(columns)):
        row = found[node]
        for j in range(columns.shape[1]):
            if lower[j, j] > 0.0:
                value = columns[node, j]
                for k in range(j):
                    value -= lower[j, k] * row[k]
                row[j] = value / lower[j, j]
    return found
