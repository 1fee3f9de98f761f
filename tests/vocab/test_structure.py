from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import pytest

from checkrein.vocab.errors import ConfigError
from checkrein.vocab.structure import COMPUTED, read_as
from checkrein.vocab.toml import read


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


@dataclass(frozen=True, slots=True)
class Leg:
    length: int
    shoe: str = ""
    colour: Colour = Colour.RED


@dataclass(frozen=True, slots=True)
class Animal:
    name: str
    legs: tuple[Leg, ...] = ()
    weight: float = 0.0
    tame: bool = False
    tags: frozenset[str] = frozenset()
    extra: Mapping[str, Any] = field(default_factory=dict)
    food: str | tuple[str, ...] = ""
    size: Literal["s", "m", 3] = "s"
    digest: str = field(default="", metadata=COMPUTED)

    def __post_init__(self) -> None:
        if self.name == "nobody":
            raise ValueError("an animal can't be named `nobody`")


def load(text):
    return read_as(Animal, read(f'schema = "zoo/1"\n{text}', "zoo.toml"), schema="zoo/1")


def faults(text):
    with pytest.raises(ConfigError) as caught:
        load(text)
    return [(fault.line, fault.column, fault.sentence, fault.hint) for fault in caught.value.faults]


def test_a_sound_file_is_read_with_its_defaults():
    animal = load(
        'name = "dog"\ntags = ["a", "b"]\nweight = 3\nfood = ["x"]\nextra = {k = [1]}\n[[legs]]\nlength = 4\ncolour = "green"\n'
    )
    assert animal == Animal("dog", (Leg(4, colour=Colour.GREEN),), 3, tags=frozenset("ab"), extra={"k": [1]}, food=("x",))


def test_every_fault_of_the_file_is_reported_at_once_with_its_place():
    text = """\
nam = "dog"
weight = "3"
tame = 1
size = "l"
food = 3
digest = "x"
[[legs]]
length = true
shoe = 4
[[legs]]
colour = "gren"
"""
    assert faults(text) == [
        (1, 1, "the file lacks the key `name`", ""),
        (2, 1, "unknown key `nam`", "did you mean `name`?"),
        (3, 1, "`weight` must be a number, not text", ""),
        (4, 1, "`tame` must be true or false, not a whole number", ""),
        (5, 1, "`size` can't be `l`", "known: 3, m, s"),
        (6, 1, "`food` must be text or a list, not a whole number", ""),
        (7, 1, "unknown key `digest`", "known: extra, food, legs, name, size, tags, tame, weight"),
        (9, 1, "`legs[0].length` must be a whole number, not true or false", ""),
        (10, 1, "`legs[0].shoe` must be text, not a whole number", 'write it as text: `"4"`'),
        (11, 3, "`legs[1]` lacks the key `length`", ""),
        (12, 1, "`legs[1].colour` can't be `gren`", "did you mean `green`?"),
    ]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('tame = "true"', "`tame` must be true or false, not text"),
        ("tame = 1", "`tame` must be true or false, not a whole number"),
        ("weight = true", "`weight` must be a number, not true or false"),
        ('legs = "x"', "`legs` must be a list, not text"),
        ("legs = [1]", "`legs[0]` must be a table, not a whole number"),
        ("legs = [{length = 1.0}]", "`legs[0].length` must be a whole number, not a number"),
        ("extra = 3", "`extra` must be a table, not a whole number"),
        ("tags = [1]", "`tags[0]` must be text, not a whole number"),
        ("size = 3.0", "`size` can't be `3.0`"),
        ("size = true", "`size` can't be `true`"),
        ("weight = 1979-05-27", "`weight` must be a number, not a date or time"),
    ],
)
def test_nothing_is_coerced(line, sentence):
    assert [fault[2] for fault in faults(f'name = "x"\n{line}')] == [sentence]


def test_a_class_that_refuses_its_values_is_a_fault_of_its_table():
    assert faults('name = "nobody"') == [(1, 1, "an animal can't be named `nobody`", "")]


@pytest.mark.parametrize(
    ("first", "sentence"),
    [
        ("", "the file does not name its schema"),
        ('schema = "zoo/2"', "schema `zoo/2` is not one that this version reads"),
        ("schema = 1", "schema `1` is not one that this version reads"),
    ],
)
def test_a_file_of_another_version_does_not_load(first, sentence):
    with pytest.raises(ConfigError) as caught:
        read_as(Animal, read(f'{first}\nname = "x"', "zoo.toml"), schema="zoo/1")
    assert [fault.sentence for fault in caught.value.faults] == [sentence]


def test_case_alone_is_named_as_what_was_meant():
    assert faults('name = "x"\n[[legs]]\nlength = 1\ncolour = "RED"')[0][3] == "did you mean `red`?"
