"""Ranges of settings, declared with the settings.

The annotation of a setting is its range, and one mechanism checks it and words the refusal:

>>> from dataclasses import dataclass
>>> @dataclass
... class Search:
...     depth: Annotated[int, Whole(1, 64)]
...     seconds: Annotated[float | None, Number(above=0)] = None
...     reward: Annotated[str, Choice("win", "discs")] = "win"
...     def __post_init__(self) -> None:
...         check_settings(self)
>>> Search(depth=65)
Traceback (most recent call last):
othello_lab.core.system.settings.SettingError: depth=65: a whole number from 1 to 64 is needed
>>> Search(3, reward="dsc")  # doctest: +ELLIPSIS
Traceback (most recent call last):
othello_lab.core.system.settings.SettingError: unknown reward 'dsc'; choose from win, ...

``None`` is allowed where the type allows it. The arguments of a class that is no dataclass are
checked by putting :func:`checked` on its ``__init__``. Refusals are SettingErrors.

From the same declarations :func:`explained` makes the ``help`` of a class, :func:`called` the call
that makes an object again; :func:`documented` returns them for other uses.
"""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
import itertools
import math
import re
import sys
import textwrap
import tokenize
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import NoneType
from typing import Annotated, Any, ClassVar, TypeVar, cast, get_args, get_origin, get_type_hints

_Init = TypeVar("_Init", bound=Callable[..., None])

_Class = TypeVar("_Class", bound=type[Any])
_Settings = TypeVar("_Settings")
_Note = TypeVar("_Note")
_LONGEST = 60  # letters of a value that a message shows


def nearest(word: str, choices: Iterable[str]) -> str:
    """`` Did you mean 'x'?`` for the nearest choice, or nothing: the end of an error message."""
    match = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.5)
    return f" Did you mean '{match[0]}'?" if match else ""


def unknown_choice(kind: str, name: object, choices: Iterable[str]) -> str:
    """The message for a name that is not among the choices: lists them and the nearest spelling."""
    choices = list(choices)
    listed = f"choose from {', '.join(choices)}" if choices else "there are none to choose from"
    return f"unknown {kind} '{name!s:.{_LONGEST}}'; {listed}.{nearest(str(name), choices)}"


def one_line(error: BaseException) -> str:
    """Fold an exception's message into one line."""
    return " ".join(str(error).split())


def _shown(value: object) -> str:
    """A value as one would write it, cut where it is long. A text that looks like a number is
    quoted, to tell the two apart."""
    if value is None:
        return "null"
    if isinstance(value, str):
        with suppress(ValueError):
            float(value)
            return repr(value)
    return f"{value!s:.{_LONGEST}}"


class ConfigError(ValueError):
    """A configuration that cannot be used; the message is one line that names the bad part."""


class SettingError(ConfigError):
    """A setting has a value that its declaration does not allow; the message begins with the name
    of the setting, unless it is a choice's."""


class Nameable:
    """A class that a configuration may name (``_target_``). Of the lab's own names it can name only
    these, so a record cannot call ``othello_lab.experiments.config.os.system``."""


class Constraint(ABC):
    """The values that a setting may have, to be put into ``Annotated[type, constraint]``."""

    @property
    @abstractmethod
    def needed(self) -> str:
        """The valid values, in words: ``a whole number from 1 to 64``."""

    @abstractmethod
    def allows(self, value: object) -> bool:
        """Return True if the value may be used; None is never passed."""

    def refusal(self, name: str, value: object, optional: bool) -> str:
        """The message for a value that is not allowed."""
        null = ", or null," if optional else ""
        return f"{name}={_shown(value)}: {self.needed}{null} is needed"

    of_text: ClassVar[bool] = False  # it is checked after numbers have become texts

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Tell pydantic to check the values of a setting by this constraint, too."""
        from pydantic import AfterValidator, BeforeValidator

        optional = NoneType in get_args(source)

        def check(value: Any) -> Any:
            if not (optional and value is None) and not self.allows(value):
                raise _OutOfRange(self, optional)
            return value

        validator = AfterValidator if self.of_text else BeforeValidator
        return validator(check).__get_pydantic_core_schema__(source, handler)


class _OutOfRange(ValueError):
    """For pydantic: the value of a setting that has no name yet."""

    def __init__(self, constraint: Constraint, optional: bool) -> None:
        self.constraint, self.optional = constraint, optional


@dataclass(frozen=True)
class Whole(Constraint):
    """A whole number from ``low`` to ``high`` (None: without end); truth values are none.

    even: True if it must be even. word: a word that is allowed instead. why: the reason for the
    range, added to the message.
    """

    low: int = 0
    high: int | None = None
    even: bool = False
    word: str | None = None
    why: str = ""

    @property
    def needed(self) -> str:
        kind = "an even number" if self.even else "a whole number"
        end = f" of {self.low} or more" if self.high is None else f" from {self.low} to {self.high}"
        word = "" if self.word is None else f", or {self.word},"
        return kind + end + word + (f" ({self.why})" if self.why else "")

    def allows(self, value: object) -> bool:
        return (self.word is not None and value == self.word) or (
            type(value) is int
            and self.low <= value
            and (self.high is None or value <= self.high)
            and not (self.even and value % 2)
        )


@dataclass(frozen=True)
class Number(Constraint):
    """A finite number: at least ``low`` or more than ``above``, at most ``high`` or less than
    ``below``."""

    low: float = -math.inf
    high: float = math.inf
    above: float = -math.inf
    below: float = math.inf

    @property
    def needed(self) -> str:
        words = []
        if self.low > -math.inf and self.high < math.inf:
            words = [f"from {self.low:g} to {self.high:g}"]
        elif self.low > -math.inf:
            words = [f"of {self.low:g} or more"]
        elif self.high < math.inf:
            words = [f"of at most {self.high:g}"]
        if self.above > -math.inf:
            words.append(f"of more than {self.above:g}")
        if self.below < math.inf:
            words.append(f"{'less' if words else 'of less'} than {self.below:g}")
        return " ".join(["a number", " and ".join(words)]).strip()

    def allows(self, value: object) -> bool:
        return (
            isinstance(value, int | float)
            and type(value) is not bool
            and abs(value) <= sys.float_info.max
            and self.low <= value <= self.high
            and self.above < value < self.below
        )


class Choice(Constraint):
    """One of some words."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    @property
    def needed(self) -> str:
        return f"one of {', '.join(self.choices)}"

    def allows(self, value: object) -> bool:
        return value in self.choices

    def refusal(self, name: str, value: object, optional: bool) -> str:
        return unknown_choice(name, value, self.choices)


@dataclass(frozen=True)
class Each(Constraint):
    """A list with elements that the inner constraint allows."""

    inner: Constraint
    of_text = True

    @property
    def needed(self) -> str:
        return f"a list is needed, of which each element is {self.inner.needed}"

    def allows(self, value: object) -> bool:
        return isinstance(value, list | tuple) and all(map(self.inner.allows, value))

    def refusal(self, name: str, value: object, optional: bool) -> str:
        if not isinstance(value, list | tuple):
            return f"{name}={_shown(value)}: {self.needed}"
        bad = next(element for element in value if not self.inner.allows(element))
        return self.inner.refusal(name, bad, optional=False)


@dataclass(frozen=True)
class Text(Constraint):
    """A text that matches a regular expression as a whole; ``words`` describe it. Halves of
    characters, impossible in a file, are refused."""

    pattern: str
    words: str
    of_text = True

    @property
    def needed(self) -> str:
        return self.words

    def allows(self, value: object) -> bool:
        if not isinstance(value, str) or re.search("[\ud800-\udfff]", value):
            return False
        return re.fullmatch(self.pattern, value, re.DOTALL) is not None


class Switch(Constraint):
    """``true`` or ``false``."""

    needed = "true or false"

    def allows(self, value: object) -> bool:
        return type(value) is bool


@dataclass(frozen=True)
class Meanings:
    """The meanings of the words of a setting that is a sum of words (``tt+killer``). To be put into
    ``Annotated``, as constraints are; it allows and refuses nothing."""

    of: Mapping[str, str]

    def __call__(self, value: str) -> dict[str, str]:
        """Return the words of a value, each with its meaning."""
        return {word: self.of[word] for word in value.split("+")}


def checked(init: _Init) -> _Init:
    """Check the arguments of an ``__init__`` by its annotations before it runs; SettingError."""
    signature = inspect.signature(init)

    @functools.wraps(init)
    def check_first(*arguments: Any, **settings: Any) -> None:
        with suppress(TypeError):  # Python says it better below: which argument of which function
            check_values(init, signature.bind(*arguments, **settings).arguments)
        init(*arguments, **settings)

    return check_first  # type: ignore[return-value]


def check_settings(settings: Any, where: str = "") -> None:
    """Check the fields of a dataclass, and of the dataclasses in it; SettingError for the first
    value that its annotation does not allow.

    where: the text before the names in messages, such as ``limits.``.
    """
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    check_values(type(settings), values, where)
    for name, value in values.items():
        if is_dataclass(value):
            check_settings(value, f"{where}{name}.")


def check_values(
    declared_by: Callable[..., Any], values: Mapping[str, Any], where: str = ""
) -> None:
    """Check values by the annotations of a function's arguments or a dataclass's fields of the
    same names; SettingError. Names that are not declared there are left alone."""
    for name, (constraint, optional) in constraints(declared_by).items():
        if name not in values:
            continue
        value = values[name]
        if not (optional and value is None) and not constraint.allows(value):
            raise SettingError(constraint.refusal(f"{where}{name}", value, optional))


@functools.cache
def constraints(declared_by: Callable[..., Any]) -> dict[str, tuple[Constraint, bool]]:
    """Return the constraints that a function's or a dataclass's annotations declare, by name of the
    setting, each with True if None is allowed too."""
    return {
        name: (note, NoneType in get_args(get_args(hint)[0]))
        for name, hint in _annotations(declared_by)
        if get_origin(hint) is Annotated
        for note in get_args(hint)[1:]
        if isinstance(note, Constraint)
    }


def _annotations(declared_by: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield names and annotations of a function's arguments, or of a class's and its bases' fields.
    One with a name imported for type checkers alone is left out."""
    for part in reversed(getattr(declared_by, "__mro__", (declared_by,))):
        try:
            hints = inspect.get_annotations(part)
        except NameError:  # from Python 3.14 on they are evaluated here
            continue
        if not hints:
            continue
        known = getattr(part, "__globals__", None) or vars(sys.modules[part.__module__])
        for name, hint in hints.items():
            with suppress(NameError):
                yield name, eval(hint, known) if isinstance(hint, str) else hint


def from_plain(kind: type[_Settings], values: Mapping[str, Any], where: str = "") -> _Settings:
    """Return the settings that a dataclass declares, checked, from plain data; SettingError.

    A number is taken for a text, and a whole one for a number with a fraction. where: the text
    before the names in messages, such as ``isolation.``.
    """
    from pydantic import ValidationError

    try:
        return cast("_Settings", _adapter(cast("Any", kind)).validate_python(dict(values)))
    except ValidationError as refused:
        error = refused.errors()[0]
    steps = [str(step) for step in error["loc"] if not isinstance(step, int)]
    key, value = where + ".".join(steps), error["input"]
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, _OutOfRange):
        raise SettingError(cause.constraint.refusal(key, value, cause.optional))
    if isinstance(cause, ValueError):  # of a class's own check
        raise cause
    if error["type"] == "unexpected_keyword_argument":
        part: Any = kind
        for step in steps[:-1]:
            part = _dataclasses_in(part)[step]
        names = [field.name for field in fields(part)]
        raise SettingError(f"unknown setting '{key}'.{nearest(steps[-1], names)}")
    if error["type"] in ("missing", "missing_argument"):
        raise SettingError(f"{key} is missing")
    needed = _NEEDED.get(error["type"], error["msg"]).format(key=key)
    raise SettingError(f"{key}={_shown(value)}: {needed} is needed")


_NEEDED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dataclass_type": "its settings by name",
    "dict_type": "its settings by name",
    "list_type": "a list, {key}=[...],",
    "string_type": "a text",
}
"""What is needed instead, by pydantic's word for what is wrong."""


@functools.cache
def _adapter(kind: Any) -> Any:
    """Return pydantic's reader of a dataclass, in which other names than its fields' are errors."""
    import pydantic

    kinds = [kind]
    for part in kinds:  # grows
        part.__pydantic_config__ = {"extra": "forbid", "coerce_numbers_to_str": True}
        kinds += _dataclasses_in(part).values()
    return pydantic.TypeAdapter(kind)


def _dataclasses_in(kind: Any) -> dict[str, Any]:
    """Return the dataclasses that are settings of a dataclass, by name of the setting."""
    return {
        name: part
        for name, hint in get_type_hints(kind).items()
        for part in (hint, *get_args(hint))
        if isinstance(part, type) and is_dataclass(part)
    }


# ---------------------------------------------------------------------- told of


def called(thing: object, given: Mapping[str, Any] | None = None) -> str:
    """Return the call that makes an object again, ``Search(depth=3)``: the arguments of its class
    that differ from their defaults, each from the attribute of that name. An argument without an
    attribute is written as three dots.

    given: arguments without an attribute.
    """
    arguments = []
    for parameter in inspect.signature(type(thing)).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        known = given if given is not None and parameter.name in given else vars(thing)
        value = known.get(parameter.name, ...)
        if parameter.default is parameter.empty or value != parameter.default:
            arguments.append(f"{parameter.name}={'...' if value is ... else repr(value)}")
    return f"{type(thing).__name__}({', '.join(arguments)})"


def explained(settings: _Class) -> _Class:
    """Add to a dataclass's documentation the range of each of its settings, its default, and the
    text below its declaration."""
    lines = [inspect.cleandoc(settings.__doc__ or ""), "", "Settings:"]
    allowed, texts = constraints(cast("Any", settings)), _written_below(settings)
    for field in fields(settings):
        constraint, optional = allowed.get(field.name, (None, False))
        may_be = constraint.needed.rstrip(", ") if constraint else _bare(str(field.type))
        may_be += ", or None" if optional else ""
        default = "" if field.default is MISSING else f" (default {field.default!r})"
        lines += ["", f"{field.name}: {may_be}{default}"]
        lines += textwrap.indent(texts.get(field.name, ""), "    ").splitlines()
    settings.__doc__ = "\n".join(lines)
    return settings


@dataclass(frozen=True)
class Setting:
    """A setting as its class declares it. text: that explains it. default: MISSING of
    :mod:`dataclasses` for none. notes: the objects in its ``Annotated`` after the type."""

    text: str
    default: Any
    notes: tuple[Any, ...]

    def note(self, kind: type[_Note]) -> _Note | None:
        """The note of this kind, if there is one."""
        return next((note for note in self.notes if isinstance(note, kind)), None)


def documented(thing: Callable[..., Any]) -> dict[str, Setting]:
    """Return the settings of a class, by name, with their texts, defaults and ranges from its
    source.

    The text of a setting is the one below its field, or else the text after its name in a docstring
    of the class, of its bases or of an ``__init__``: ``depth: plies. nodes: positions``.

    >>> class Search:
    ...     def __init__(self, depth: Annotated[int, Whole(1)] = 4) -> None:
    ...         '''depth: plies.'''
    >>> documented(Search)["depth"]
    Setting(text='Plies.', default=4, notes=(Whole(low=1, high=None, even=False, word=None, why=''),))
    """  # noqa: E501
    below = _written_below(cast("type", thing)) if _has_fields(thing) else {}
    bases = [base for base in reversed(getattr(thing, "__mro__", (thing,))) if base is not object]
    inits = [
        vars(base)["__init__"] for base in bases if "__init__" in getattr(base, "__dict__", {})
    ]
    hints = dict(pair for part in (*bases, *inits) for pair in _annotations(part))
    arguments = {
        name: parameter
        for name, parameter in inspect.signature(thing).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
    texts: dict[str, str] = {}
    for part in (*bases, *(init for init in inits if "__dataclass_fields__" not in vars(thing))):
        texts |= _texts_in((part.__doc__ or "").partition("Settings:\n")[0], list(arguments))
    factories = {
        field.name: field.default_factory
        for field in (fields(cast("Any", thing)) if is_dataclass(thing) else ())
        if field.default_factory is not MISSING
    }
    settings = {}
    for name, parameter in arguments.items():
        default = MISSING if parameter.default is parameter.empty else parameter.default
        hint = hints.get(name)
        settings[name] = Setting(
            below.get(name) or texts.get(name, ""),
            factories[name]() if name in factories else default,
            get_args(hint)[1:] if get_origin(hint) is Annotated else (),
        )
    return settings


def _texts_in(docstring: str, names: Iterable[str]) -> dict[str, str]:
    """Return the texts that a docstring has after the names of settings, each as one line."""
    name = "|".join(map(re.escape, names))
    if not name:
        return {}
    text = re.sub(r"\n\s*\n", "\0", inspect.cleandoc(docstring))
    text = " ".join(text.split())
    heads = list(re.finditer(rf"(?:^|[.;\0] ?)((?:``)?(?:{name})(?:``)?(?:, (?:{name}))*): ", text))
    texts = {}
    for head, following in itertools.zip_longest(heads, heads[1:]):
        end = following.start() + 1 if following else len(text)
        words = re.sub(";$", ".", text[head.end() : end].partition("\0")[0].strip())
        for setting in head[1].replace("`", "").split(", "):
            texts[setting] = words[:1].upper() + words[1:]
    return texts


def as_yaml(
    thing: Callable[..., Any],
    values: Mapping[str, Any] | None = None,
    without: Collection[str] = (),
) -> list[str]:
    """Return the settings of a class as the lines of a YAML that explains itself.

    Each has its text and range as a comment above it, and its default as its value. values: other
    values than the defaults. without: names of settings that are left out.
    """
    lines: list[str] = []
    for name, setting in documented(thing).items():
        if name in without:
            continue
        value = (values or {}).get(name, setting.default)
        constraint = setting.note(Constraint)  # type: ignore[type-abstract]
        text = re.sub(r"\bNone\b", "null", setting.text.replace("``", ""))
        if constraint is not None and not isinstance(constraint, Switch):
            needed = constraint.needed.removeprefix("a list is needed, of which ").rstrip(",")
            text = f"{text} {needed[:1].upper()}{needed[1:]}."
        lines += [f"# {line}" for line in textwrap.wrap(" ".join(text.split()), 98)]
        if is_dataclass(value) and not isinstance(value, type):
            lines += [f"{name}:", *(f"  {line}" for line in as_yaml(type(value)))]
        else:
            lines.append(f"{name}: {as_written(value)}")
    return lines


def as_written(value: object) -> str:
    """Return a value as a YAML has it, in one line."""
    if value is MISSING:
        return "???"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(as_written, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {as_written(part)}' for key, part in value.items())}}}"
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value) or '""'


def summary(thing: type) -> str:
    """Return the original documentation of a class, without the additions of :func:`explained`."""
    return inspect.cleandoc(thing.__doc__ or "").partition("\n\nSettings:\n")[0]


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a docstring, each in one line, as Markdown."""
    lines = [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]
    return [_ROLE.sub(r"`\1`", line).replace("``", "`") for line in lines if line]


_ROLE = re.compile(r":\w+:`(?:~(?:[^`]*\.)?)?([^`]+)`")


def _bare(annotation: str) -> str:
    """A type as it is written, without the notes of ``Annotated``.

    >>> _bare("Annotated[int | None, Whole(1)]"), _bare("int")
    ('int | None', 'int')
    """
    tree = ast.parse(annotation, mode="eval").body
    if isinstance(tree, ast.Subscript) and ast.unparse(tree.value) == "Annotated":
        assert isinstance(tree.slice, ast.Tuple)
        return ast.unparse(tree.slice.elts[0])
    return annotation


def _has_fields(thing: object) -> bool:
    """Return True for a dataclass or a named tuple."""
    return is_dataclass(thing) or hasattr(thing, "_fields")


def _written_below(settings: type) -> dict[str, str]:
    """The texts that stand below the fields of a class and of its bases, by field."""
    texts = {}
    for part in reversed(settings.__mro__):
        file = getattr(sys.modules[part.__module__], "__file__", None)
        body = _bodies(file).get(part.__name__) if _has_fields(part) and file else None
        for field, below in itertools.pairwise(body or ()):
            text = below.value if isinstance(below, ast.Expr) else None
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Constant):
                texts[ast.unparse(field.target)] = inspect.cleandoc(str(text.value))
    return texts


@functools.cache
def _bodies(file: str) -> dict[str, list[ast.stmt]]:
    """Return the syntax trees of a file's classes; nothing if there is no source to be read."""
    try:
        with tokenize.open(file) as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError):
        return {}
    return {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}
