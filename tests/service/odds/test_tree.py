"""What the compiler of trees does not know, it leaves to the rules."""

from dataclasses import make_dataclass

import pytest

from fairroll.odds import tree
from fairroll.odds.chances import Work
from fairroll.odds.growth import UnsayableError
from fairroll.odds.tree import TreeOdds
from fairroll_rules.notation.tree import Explode, Tree
from fairroll_rules.systems import notation
from fairroll_rules.systems.notation import NotationCheck


def tree_of(text: str) -> Tree:
    return notation.program_of(NotationCheck(text)).tree


def say(found: Tree) -> object:
    return TreeOdds(found, {}, Work()).of(found.root)


def test_a_class_that_it_does_not_know_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tree_of("3d6!")
    assert say(found)
    monkeypatch.delitem(tree._NEW_FIELDS, Explode)
    with pytest.raises(UnsayableError):
        say(found)


@pytest.mark.parametrize(("value", "sayable"), [(None, True), (False, True), ((), True), (True, False), (3, False)])
def test_a_field_that_it_does_not_know_is_left_alone_where_it_is_used(value: object, sayable: bool) -> None:
    kind = make_dataclass("kind", [("known", int), ("later", object)])
    part = kind(1, value)
    tree._NEW_FIELDS[kind] = ["later"]
    try:
        assert tree._known(part) is sayable
    finally:
        del tree._NEW_FIELDS[kind]


def test_what_is_kept_before_it_explodes_is_left_to_the_rules() -> None:
    # `4d4kh!` explodes each die and keeps the highest, `(4d4kh)!` explodes the one that was kept: 4 is never its total.
    for text in ("(1d4kh)!", "(2d4kh)!", "(3d6dl)!"):
        with pytest.raises(UnsayableError):
            say(tree_of(text))
