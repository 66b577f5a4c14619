"""How YAMLs become configurations, and configurations objects."""

from __future__ import annotations

import functools
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import patch

import hydra
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

import othello_lab.agents.evaluation
import othello_lab.agents.external
import othello_lab.agents.learned
from othello_lab import AlphaBeta, Decision, Limited, SearchStats, SquareWeights
from othello_lab.agents import composing
from othello_lab.agents.composing import (
    GROUPS_WITH_DEFAULTS,
    choices,
    compose,
    conf_folder,
    load,
    plain,
)
from othello_lab.agents.config import (
    build,
    build_agent,
    evaluation_settings,
    fill_open,
    load_evaluation,
)
from othello_lab.agents.evaluation import Composite
from othello_lab.agents.loading import defaults_of, resolve
from othello_lab.agents.naming import names_by_difference
from othello_lab.core.game import valid_answer
from othello_lab.core.position import Position
from othello_lab.core.system.settings import (
    Choice,
    ConfigError,
    Each,
    Whole,
    as_yaml,
    checked,
    documented,
)

# ---------------------------------------------------------------------- strings


words = st.text(st.sampled_from("\\${}a:'\" \n?,.")) | st.text()


@settings(max_examples=30)
@given(words.filter(lambda word: word != "???"))
def test_an_object_gets_its_strings_as_they_are_written(word: str) -> None:
    settings = {"text": word, "notes": [word, {"in": word}]}
    built = build({"_target_": f"{__name__}.Inner"} | settings, "it")
    assert {"text": built.text, "notes": built.notes} == settings


# ---------------------------------------------------------------------- building


@dataclass
class Inner:
    text: str = ""
    notes: list[Any] = field(default_factory=list)


def passed_on(init: Callable[..., None]) -> Callable[..., None]:
    """A decorator as others write them: what is decorated shows only through ``functools``."""

    @functools.wraps(init)
    def wrapper(*arguments: Any, **settings: Any) -> None:
        init(*arguments, **settings)

    return wrapper


class Outer:
    @passed_on
    def __init__(self, inner: Inner, depth: int, *, width: int = 3) -> None:
        if depth > 64:
            raise ValueError(f"depth={depth}: a whole number from 1 to 64")
        self.inner, self.depth, self.width = inner, depth, width


class Open:
    def __init__(self, depth: int, **settings: Any) -> None:
        self.settings = {"depth": depth} | settings


INNER = {"_target_": f"{__name__}.Inner", "notes": [1, [2]]}
OUTER = {"_target_": f"{__name__}.Outer", "inner": INNER, "depth": 2}


def test_what_is_inside_is_built_first_and_shared_with_nobody() -> None:
    one, two = build(OUTER, "it"), build(OUTER, "it")
    assert isinstance(one.inner, Inner)
    assert one.inner.notes == [1, [2]]
    one.inner.notes[1].append(3)
    assert two.inner.notes == INNER["notes"] == [1, [2]]


def test_a_class_that_takes_all_settings_gets_them() -> None:
    settings = {"_target_": f"{__name__}.Open", "depth": 1, "anything": "goes"}
    assert build(settings, "it").settings == {"depth": 1, "anything": "goes"}


def test_a_yaml_that_hydra_refuses_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "evaluation").mkdir()
    (tmp_path / "evaluation" / "mine.yaml").write_text("_target_: a${oc.env:b\n")
    with pytest.raises(ConfigError, match=r"^[^\n]+$"):
        load("evaluation", "mine", [tmp_path])


@pytest.mark.parametrize("text", ["true", "3", "- a", "a: &a [*a]", "", "{ ] :"])
def test_the_yaml_of_an_agent_has_settings_by_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"mine\.yaml: [^\n]+$"):
        composing.with_paths([f"agent@first={path}"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"depht": 3},
            r"^agent 'x': .*Outer has no setting 'depht'; its settings: inner, depth, width\. "
            r"Did you mean 'depth'\?$",
        ),
        ({"inner": INNER | {"txt": ""}}, r"^agent 'x'\.inner: .*no setting 'txt'.*'text'\?$"),
        ({"inner": [INNER | {"txt": ""}]}, r"^agent 'x'\.inner\[0\]: .*no setting 'txt'"),
        ({None: 3}, r"^agent 'x': None is no name of a setting$"),
        ({"inner": INNER | {3: 4}}, r"^agent 'x'\.inner: 3 is no name of a setting$"),
        ({"_args_": [1]}, r"no setting '_args_'"),
        ({"depth": "???"}, r"^agent 'x'\.depth is left open; set agent 'x'\.depth="),
        ({"depth": 65}, r"^agent 'x': depth=65: a whole number from 1 to 64$"),
        ({"_target_": f"{__name__}.Open", "depth": [], "self": 1}, r"multiple values"),
        ({"_target_": f"{__name__}.Nobody"}, r"^agent 'x': cannot import _target_ '.*Nobody'"),
        (
            {"_target_": "othello_lab.AlphaBeta"},
            r"^agent 'x': othello_lab.AlphaBeta has no setting 'inner'",
        ),
    ],
)
def test_settings_that_nothing_can_be_built_of(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        build(OUTER | changes, "agent 'x'")
    assert "\n" not in str(caught.value)


def test_a_setting_that_is_needed_is_named() -> None:
    cure = "; with depth: ??? in its YAML the run's is taken"
    for target, missing in (("Outer", "inner and depth"), ("Open", "depth")):
        message = rf"^it: .*{target} needs {missing}{re.escape(cure)}$"
        with pytest.raises(ConfigError, match=message):
            build({"_target_": f"{__name__}.{target}"}, "it")


# ---------------------------------------------------------------------- composing


@pytest.mark.parametrize(
    ("files", "single"),
    [
        (["ruleset=mini6"], []),
        ([], ["depth=3", "games=8"]),
        (["agents=duel", "agent@first=greedy", "agent@second=alphabeta"], ["second.depth=5"]),
        (
            ["+evaluation@agents.minimax.evaluation=iago"],
            ["limits.hang=5", "++extra.more=[1]", "+agents.minimax.new={a: {b: 1}}"],
        ),
        (
            ["experiment=paip_1ply", "evaluation=composite"],
            ["evaluation.weights={corners: 3}", "++evaluation.weights={mobility: 2}"],
        ),
        (["openings=file"], ["openings.plies=3", "results='a=b'"]),
    ],
)
def test_single_settings_are_set_as_hydra_sets_them(files: list[str], single: list[str]) -> None:
    compose("run", files)  # Hydra knows the heuristics then
    with hydra.initialize_config_dir(str(conf_folder()), version_base="1.3"):
        added = [word if word.startswith("+") else f"++{word}" for word in single]
        theirs = hydra.compose("run", [*files, *added])
    for _ in range(2):
        ours = compose("run", [*files, *single])
        for key in (word.lstrip("+").partition("=")[0] for word in single):
            assert OmegaConf.select(ours, key) == OmegaConf.select(theirs, key)
        ours.depth, ours.agents = 99, {}  # concerns nobody else


def test_an_edited_file_and_another_folder_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "conf"
    shutil.copytree(conf_folder(), copy)
    monkeypatch.setattr(composing, "conf_folder", lambda: copy)
    assert compose("run").games == 100
    with (copy / "run.yaml").open("a", encoding="utf-8") as file:
        file.write("games: 102\n")
    os.utime(copy / "run.yaml", (1, 1))  # whatever the clock's ticks
    assert compose("run").games == 102


@dataclass
class Part:
    width: Annotated[int | None, Whole(1)] = None
    """Columns; None: all."""


@dataclass
class Entire:
    part: Part = field(default_factory=Part)
    names: Annotated[list[str], Each(Choice("a", "b"))] = field(default_factory=lambda: ["a"])
    """Letters."""


class Plain:
    @checked
    def __init__(self, low: Annotated[int, Whole(1)], high: float = 2.5) -> None:
        """low: the least value. high: the greatest; ``None`` for no bound."""


def test_settings_are_explained_from_their_class() -> None:
    assert as_yaml(Entire) == [
        *("part:", "  # Columns; null: all. A whole number of 1 or more.", "  width: null"),
        *("# Letters. Each element is one of a, b.", "names: [a]"),
    ]
    assert as_yaml(Plain, {"low": 3}, without=("high",)) == [
        *("# The least value. A whole number of 1 or more.", "low: 3"),
    ]
    assert as_yaml(Plain)[2:] == ["# The greatest; null for no bound.", "high: 2.5"]


@pytest.mark.parametrize("group", GROUPS_WITH_DEFAULTS)
def test_a_class_explains_its_settings_and_no_yaml_repeats_its_defaults(group: str) -> None:
    for name in choices(group):
        path = conf_folder() / group / f"{name}.yaml"
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
        settings = said.get(group, said)
        for key, setting in documented(resolve(settings["_target_"])).items():
            assert setting.text, f"{path}: {key} is not explained"
        defaults = defaults_of(settings["_target_"])
        repeated = {key for key, value in settings.items() if defaults.get(key, ...) == value}
        assert not repeated, path
        if group not in ("train", "study", "data"):
            assert load(group, name) | settings == {**defaults, **settings}


# ---------------------------------------------------------------------- further folders


def test_a_file_named_like_one_of_the_labs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "greedy.yaml").write_text("_target_: mine.Greedy\n", encoding="utf-8")
    for ask in (
        lambda: compose("run", [], [tmp_path]),
        lambda: choices("agent", [str(tmp_path)]),
    ):
        with pytest.raises(ConfigError, match=r"agent/greedy\.yaml .* rename it$") as caught:
            ask()
        assert str(tmp_path) in str(caught.value)
    (tmp_path / "agent" / "greedy.yaml").rename(tmp_path / "agent" / "mine.yaml")
    assert "mine" in choices("agent", [tmp_path])
    compose("run", [], [tmp_path])
    choices("agent", [conf_folder()])  # the same files


def test_what_an_agent_within_one_leaves_open_is_filled_too() -> None:
    weights = evaluation_settings("square_weights")
    settings, used = fill_open({"it": load("agent", "limited")}, depth=3, evaluation=weights)
    assert used == {"depth", "evaluation"}
    agent = build_agent(settings["it"] | {"nodes": 500}, "it")
    assert isinstance(agent, Limited) and isinstance(agent.agent, AlphaBeta)
    assert (agent.nodes, agent.agent.depth) == (500, 3)
    with pytest.raises(ConfigError, match=r"agent 'it'\.agent leaves 'depth' open"):
        fill_open({"it": load("agent", "limited")}, evaluation=weights)


@pytest.mark.integration
def test_what_an_object_is_shown_as_makes_it_again() -> None:
    rooms = (
        othello_lab,
        othello_lab.agents.evaluation,
        othello_lab.agents.external,
        othello_lab.agents.learned,
    )
    names = {name: getattr(room, name) for room in rooms for name in dir(room)}
    paip = Path(__file__).parent / "external" / "paip.py"
    evaluation = evaluation_settings(f"{paip}:mean_weight")
    filled = {"depth": 3, "command": "cat -n", "target": f"{paip}:random_strategy"}
    made = [
        *(load_evaluation(name) for name in choices("evaluation") if name != "function"),
        build(evaluation, "evaluation"),
        SquareWeights([[1, 2, 3, 4]] * 4),
        Composite({"mobility": 2}, [{"empties": [0, 60], "weights": {"disc_count": 1.5}}]),
    ]
    for name in set(choices("agent")) - {"openspiel"}:  # whose target is no file
        weights = evaluation_settings("square_weights")
        settings, _ = fill_open({name: load("agent", name)}, evaluation=weights, **filled)
        made.append(build_agent(settings[name], name))
    for each in made:
        shown = repr(each)
        assert "..." not in shown
        again = eval(shown, names | {type(each).__name__: type(each)})
        assert type(again) is type(each)
        assert repr(again) == shown
    assert repr(made[0]).startswith("Composite(weights={'corners': 25.0,")


def test_a_decision_is_shown_with_names_of_squares() -> None:
    decision = AlphaBeta(3, SquareWeights()).search(Position.start())
    shown = repr(decision)
    assert shown.startswith("Decision('d3', value=13, pv=('d3', 'c3', 'b3'), depth=3, stats=")
    assert valid_answer(eval(shown, {"Decision": Decision, "SearchStats": SearchStats})) == decision
    assert decision.line == ("d3", "c3", "b3")
    assert repr(Decision(64)) == "Decision('--')"
    assert repr(Decision("k9", pv=3)) == "Decision('k9', pv=3)"  # type: ignore[arg-type]


def test_names_of_agents_tell_what_differs() -> None:
    """The settings of parts of one class, or the folders of files of one name."""
    one, two, rest = (
        {"_target_": f"mine.{name}", "weight": weight}
        for name, weight in (("Sum", 1), ("Sum", 2), ("Rest", 2))
    )
    for key, first, second, names in (
        ("evaluation", one, two, ["weight 1", "weight 2"]),
        ("evaluation", one, rest, ["sum", "rest"]),
        ("_target_", "./a/bot.py:Bot", "./b/bot.py:Bot", ["a/bot", "b/bot"]),
        ("command", "./bot.py", "'./old/bot.py' -l 3", ["bot", "old/bot"]),
        ("evaluation", {"target": "a/x/h.py:f"}, {"target": "b/x/h.py:f"}, ["a/x/h", "b/x/h"]),
        ("command", "./bot 3", "./bot 3", ["Bot_1", "Bot_2"]),
    ):
        agents = [{"_target_": "mine.Bot", key: value} for value in (first, second)]
        assert names_by_difference(agents) == names


# ------------------------------------------------------------------ kept compositions


def test_a_composition_is_kept_until_a_file_is_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def composed_anew() -> bool:
        """Compose as a new process does; return True if Hydra had to."""
        composing._composed_files.cache_clear()
        OmegaConf.clear_resolvers()
        with patch.object(hydra, "compose", wraps=hydra.compose) as composed:
            assert plain(compose("run"))["name"] == "ab_vs_minimax"
        return composed.called

    cache, copy = tmp_path / "cache", tmp_path / "conf"
    monkeypatch.setattr(composing, "user_cache", lambda: cache)
    shutil.copytree(conf_folder(), copy)
    assert composed_anew() and not composed_anew()
    (file,) = (cache / "compositions").iterdir()
    for length in (0, 10, -1):  # damaged
        file.write_bytes(file.read_bytes()[:length])
        assert composed_anew() and not composed_anew()
    monkeypatch.setattr(composing, "conf_folder", lambda: copy)
    assert composed_anew() and not composed_anew()
    os.utime(copy / "run.yaml", (1, 1))
    assert composed_anew() and not composed_anew()
    shutil.rmtree(cache)
    cache.write_text("a file", encoding="utf-8")
    assert composed_anew() and composed_anew()
