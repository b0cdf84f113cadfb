"""Dice notation: text to tree, tree to bounds, tree and dice to a total. Other dialects are rows of a table."""

from fairroll_rules.notation.bounds import Bounds
from fairroll_rules.notation.canonical import canonical
from fairroll_rules.notation.dialects import Dialect, Rounding
from fairroll_rules.notation.explain import Explained, explain, outline
from fairroll_rules.notation.faults import caret
from fairroll_rules.notation.parser import GRAMMAR_VERSION, parse
from fairroll_rules.notation.program import Program, analyse, evaluate, prepare
from fairroll_rules.notation.runners import Result
from fairroll_rules.notation.tree import ReadingWarning, Tree

__all__ = [
    "GRAMMAR_VERSION",
    "Bounds",
    "Dialect",
    "Explained",
    "Program",
    "ReadingWarning",
    "Result",
    "Rounding",
    "Tree",
    "analyse",
    "canonical",
    "caret",
    "evaluate",
    "explain",
    "outline",
    "parse",
    "prepare",
]
