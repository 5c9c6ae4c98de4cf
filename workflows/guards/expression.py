"""Expressions of guards: the result is a single yes or no.

:mod:`burstlens.workflows.guards.evaluation` computes it.
"""

from __future__ import annotations

import ast

from burstlens.core.errors import RecipeError
from burstlens.core.expression import names_in, parse


def faults(text: str) -> list[str]:
    """The errors in an expression; empty if it is valid."""
    try:
        tree_of(text)
    except RecipeError as error:
        return [f"expression: {error}"]
    return []


def variables(text: str) -> tuple[str, ...]:
    """The variables of an expression, in order. Raises RecipeError for a faulty one."""
    return names_in(tree_of(text))


def tree_of(text: str) -> ast.expr:
    """The checked tree of an expression. Raises RecipeError with the error in it."""
    tree, kind = parse(text)
    if not kind.truth:
        raise RecipeError("gives a number, not a yes or no: compare it, such as max(W) > 80")
    if kind.everywhere:
        raise RecipeError("gives a yes or no at every point: put any(...) or all(...) around it")
    return tree
