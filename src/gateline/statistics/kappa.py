"""Agreement beyond chance between people and a judge: Cohen's kappa, plain and weighted, with an interval.

Cohen 1960, Educational and Psychological Measurement 20; weights by squared distance: Cohen 1968, Psychological
Bulletin 70. A table in which chance alone would agree always has no kappa, and none is made up.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gateline.statistics.end_points import adjusted_deviate
from gateline.statistics.interval import Interval
from gateline.statistics.mean_differences import Floats
from gateline.statistics.merged_draws import MergedRows, draw_ends

MOST_CATEGORIES = 30
"""More are no categories; a cluster's table would not fit either."""


def cohens_kappa(table: Floats, *, weighted: bool = False) -> float | None:
    """Return kappa of a table of counts (K, K), row what people say, column what the judge says.

    `weighted` takes the categories as ordered and equally far apart, and counts a disagreement by its squared
    distance. None where both raters use one and the same category only, or the table is empty.
    """
    kappa = float(_kappas(table.reshape(-1, 1), len(table), weighted=weighted)[0])
    return None if math.isnan(kappa) else kappa


def kappa_interval(
    human: NDArray[np.int64],
    judge: NDArray[np.int64],
    cluster: NDArray[np.int64],
    *,
    categories: int,
    level: float,
    seed: int,
    weighted: bool = False,
) -> Interval | None:
    """Return the interval of kappa over clusters: Bayesian bootstrap with two end points.

    Args:
        human: code of each label (n), 0 … categories − 1.
        judge: likewise.
        cluster: code of the cluster of each label (n).
        categories: how many there are, at most 30.
        level: two-sided confidence, above 0.5.
        seed: of the draws.
        weighted: as in `cohens_kappa`.

    Returns:
        The interval; None with fewer than 2 clusters or without a kappa. The end points are an average cluster in
        full agreement and one that disagrees, spread over the cells as the margins have it, each with a weight of
        Gamma(1/2): twenty labels without a disagreement leave room for some.
    """
    used, member = np.unique(cluster, return_inverse=True)
    cells = human * categories + judge
    table = np.bincount(cells, minlength=categories**2).astype(np.float64).reshape(categories, categories)
    kappa = cohens_kappa(table, weighted=weighted)
    if used.size < 2 or kappa is None:
        return None
    ends = _end_points(table) * (human.size / used.size)
    drawn = draw_ends(
        _merged_tables(cells, member, categories**2, ends),
        lambda sums: _kappas(sums, categories, weighted=weighted)[None, :],
        adjusted_deviate(level, int(used.size)),
        seed=seed,
    )
    return Interval(
        min(drawn.low, kappa), max(drawn.high, kappa), level, "bayesian", drawn.draws, drawn.notes
    )


def _merged_tables(
    cells: NDArray[np.int64], member: NDArray[np.int64], number: int, ends: Floats
) -> MergedRows:
    """Return the tables of the clusters, equal ones merged; labels that are clusters of their own never unfold."""
    clusters = int(member.max()) + 1
    if clusters == cells.size:
        counts = np.bincount(cells, minlength=number).astype(np.float64)
        seen = np.flatnonzero(counts)[::-1]  # as `MergedRows.of` sorts them
        shape = np.concatenate([counts[seen], np.full(len(ends), 0.5)])
        return MergedRows(np.concatenate([np.eye(number)[seen], ends]), shape)
    tables = np.zeros((clusters, number))
    np.add.at(tables, (member, cells), 1.0)
    return MergedRows.of(tables, ends)


def _kappas(cells: Floats, categories: int, *, weighted: bool) -> Floats:
    """Return kappa of each column of cells (K², draws), NaN where it has none."""
    total = cells.sum(axis=0)
    shares = (cells / np.where(total > 0.0, total, 1.0)).reshape(categories, categories, -1)
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    distance = np.arange(categories)[:, None] - np.arange(categories)
    cost = (distance**2 if weighted else distance != 0).astype(np.float64)
    found = np.einsum("ij,ijd->d", cost, shares)
    by_chance = np.einsum("ij,id,jd->d", cost, rows, columns)
    some = by_chance > 0.0
    return np.where(some, 1.0 - found / np.where(some, by_chance, 1.0), math.nan)


def _end_points(table: Floats) -> Floats:
    """Return the cells of one unit of agreement and of one of disagreement, (2, K²), as the margins have them."""
    rows, columns = table.sum(axis=1) / table.sum(), table.sum(axis=0) / table.sum()
    agree = np.diag(0.5 * (rows + columns))
    disagree = np.outer(rows, columns)
    np.fill_diagonal(disagree, 0.0)
    return np.stack([agree.ravel() / agree.sum(), disagree.ravel() / disagree.sum()])
