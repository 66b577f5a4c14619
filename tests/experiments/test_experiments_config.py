"""What a configuration may say, and what is answered when it says something else."""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from chosen import mostly_nightly
from runs import QUIET, played

from othello_lab import AlphaBeta, DiscCount
from othello_lab.agents.composing import choices
from othello_lab.agents.external_agent import ExternalAgent
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import read, settings_of, typed
from othello_lab.experiments.jobs.run import resume
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.studies.scaling import Scaling
from othello_lab.experiments.studies.study_plan import read as study_plan
from othello_lab.experiments.sweep.composing import expand

LINE_UPS = set(choices("agents")) - {"alone", "duel", "folder"}


@pytest.mark.integration
@pytest.mark.parametrize("rules", mostly_nightly(["standard", "wpi"], ["standard"]))
@pytest.mark.parametrize("name", sorted(LINE_UPS))
def test_every_line_up_can_be_run(name: str, rules: str) -> None:
    plan = read([f"agents={name}", f"ruleset.name={rules}"])
    assert len(plan.agents) >= 2
    assert plan.settings.name == name


# Evaluations: see test_heuristics.py, test_a_board_it_is_not_made_for_is_refused.
@pytest.mark.parametrize("group", ["executor", "openings", "ruleset"])
def test_every_option_of_every_group_can_be_chosen(group: str) -> None:
    extra = {"ruleset": ["evaluation=disc_count"], "file": ["openings.file=my.txt"]}
    chosen = {}
    for option in choices(group):
        if option == "dask" and find_spec("distributed") is None:
            continue
        plan = read([f"{group}={option}", *extra.get(group, []), *extra.get(option, [])])
        chosen[option] = str(getattr(plan.settings, group))
    assert len(set(chosen.values())) == len(chosen), "two options are the same"


def test_top_level_settings_fill_what_a_line_up_leaves_open() -> None:
    words = ["depth=6", "evaluation=disc_count", "agents.left.depth=3", "seed=7", "games=400"]
    plan = read(["agents=ab_mirror", *words, "executor.workers=2", "ruleset=wpi"])
    left, right = plan.agents["left"], plan.agents["right"]
    assert isinstance(left, AlphaBeta) and isinstance(right, AlphaBeta)
    assert (left.depth, right.depth) == (3, 6)
    assert isinstance(left.evaluation, DiscCount)
    settings = plan.settings
    assert settings.agents["right"]["depth"] == 6
    assert (settings.depth, settings.seed, settings.games) == (6, 7, 400)
    assert (plan.executor.workers, plan.rules.name) == (2, "wpi")


MINE = """
from __future__ import annotations
from dataclasses import dataclass
from othello_lab import AlphaBeta, RandomAgent

class Careful(RandomAgent):
    def __init__(self, patience: int = 1) -> None:
        self.patience = patience

@dataclass(eq=False)
class Mine(AlphaBeta):
    hope: float = 0.5
"""


@pytest.mark.integration
def test_agents_by_the_path_of_their_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a file that is named like one of the lab's packages."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents.py").write_text(MINE, encoding="utf-8")
    there = tmp_path / "two words"
    there.mkdir()
    (there / "it's.py").write_text(MINE, encoding="utf-8")
    words = ["agents=duel", "agent@first=./agents.py:Careful", "first.patience=3"]
    words.append(f'agent@second="{there}/it\'s.py:Mine"')
    words += ["second.depth=5", "second.evaluation=iago", "second.hope=1.5"]
    made = {}
    for name, agent in read(words).agents.items():
        assert isinstance(agent, ExternalAgent), "it is not run where the judge is"
        made[name] = agent.make()
    assert list(made) == ["Careful", "Mine"]
    assert vars(made["Careful"])["patience"] == 3
    assert (made["Mine"].depth, made["Mine"].hope) == (5, 1.5)  # type: ignore[attr-defined]

    words = ["agents=ab_vs_minimax", "+agent@agents.mine=./agents.py:Careful", "depth=2"]
    assert list(read(words).agents) == ["minimax", "alphabeta", "mine"]
    words = ["agents=ab_vs_minimax", "agent@agents.minimax=./agents.py:Careful"]
    assert isinstance(read(words).agents["minimax"], ExternalAgent)


HOLLOW = """
from othello_lab.agents.evaluation import heuristic

@heuristic
def hollow(mover, opponent):
    return 1
"""
IAGO = {"_target_": "othello_lab.agents.evaluation.Iago"}
COMPOSED = (
    ("alphabeta", ["first.evaluation=iago"], IAGO),
    ("alphabeta", ["first.evaluation=composite", "first.evaluation.weights.corners=7"], 7),
    ("weighted", ["first.evaluation=iago"], IAGO),
    ("limited", ["first.agent.evaluation=iago"], IAGO),
    ("limited", ["first.agent=minimax", "first.agent.evaluation=iago"], IAGO),
    ("./hollow.py:Mine", ["first.evaluation=iago", "first.depth=2"], IAGO),
    ("alphabeta", ["first.evaluation=./hollow.py:hollow"], "./hollow.py:hollow"),
    ("alphabeta", ["evaluation=./hollow.py:hollow"], "./hollow.py:hollow"),
)


@pytest.fixture
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hollow.py").write_text(MINE + HOLLOW, encoding="utf-8")


@pytest.mark.usefixtures("own_file")
@pytest.mark.parametrize(("agent", "words", "expected"), COMPOSED)
def test_an_evaluation_is_named_where_it_is_used(
    agent: str, words: list[str], expected: object
) -> None:
    plan = read(["agents=duel", f"agent@first={agent}", "agent@second=greedy", *words])
    settings = plan.settings.agents[plan.names[0]]
    evaluation = settings.get("agent", settings)["evaluation"]
    weights = evaluation.get("weights", {})
    assert expected in (evaluation, evaluation.get("target"), weights.get("corners"))


@pytest.mark.integration
@pytest.mark.usefixtures("own_file")
def test_a_line_up_names_the_evaluations_of_its_agents(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "named.yaml").write_text(
        "# Named\ndefaults:\n  - /agent@a: weighted\n  - /agent@b: alphabeta\n\n"
        "a: {evaluation: composite}\nb: {depth: 2, evaluation: ./hollow.py:hollow}\n",
        encoding="utf-8",
    )
    agents = read(["agents=named", "agents.a.evaluation.weights.corners=3"], [tmp_path]).settings
    assert agents.agents["a"]["evaluation"]["weights"]["corners"] == 3
    assert agents.agents["b"]["evaluation"]["target"] == "./hollow.py:hollow"
    agents = read(["agents=named", "agents.b.evaluation=iago"], [tmp_path]).settings
    assert agents.agents["b"]["evaluation"] == IAGO


def test_evaluations_of_sweeps_and_studies_are_named_in_the_same_way() -> None:
    words = ["agents=ab_mirror", "agents.left.evaluation=iago,composite", "depth=2"]
    evaluations = [read(item).settings.agents["left"]["evaluation"] for item in expand(words)]
    assert [str(item["_target_"]).rpartition(".")[2] for item in evaluations] == [
        "Iago",
        "Composite",
    ]
    plan = study_plan("pruning", ["agents=ab_mirror", "agents.left.evaluation=iago"]).plan
    assert plan.settings.agents["left"]["evaluation"] == IAGO
    with pytest.raises(ConfigError, match=r"^agents\.left\.evaluation: .*'igo'"):
        study_plan("pruning", ["agents=ab_mirror", "agents.left.evaluation=igo"])


@pytest.mark.parametrize(
    ("default", "complaint"),
    [
        ("agent@a: greedy", r"/agent@NAME: greedy"),
        ("/agent@a: gredy", r"'gredy'.*'greedy'"),
        ("nothing: here", r"agents/two\.yaml .*agents/nothing/here\.yaml"),
    ],
)
def test_a_line_ups_default_that_is_not_there(tmp_path: Path, default: str, complaint: str) -> None:
    (tmp_path / "agents").mkdir()
    text = f"# Two\ndefaults:\n  - /agent@b: greedy\n  - {default}\n"
    (tmp_path / "agents" / "two.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=complaint):
        read(["agents=two"], [tmp_path])


def test_agents_of_a_duel_are_named_by_their_choices() -> None:
    names = ["agents=duel", "agent@first=alphabeta", "agent@second=greedy"]
    plan = read([*names, "rating.anchor=second", "searches.baseline=first"])
    assert list(plan.agents) == ["alphabeta", "greedy"]
    assert (plan.settings.rating.anchor, plan.settings.searches.baseline) == ("greedy", "alphabeta")
    names = ["agents=duel", "agent@first=alphabeta", "agent@second=alphabeta"]
    plan = read([*names, "second.depth=2", "schedule=gauntlet", "schedule.champion=second"])
    assert list(plan.agents) == ["alphabeta_d4", "alphabeta_d2"]
    assert plan.agents["alphabeta_d2"].depth == 2  # type: ignore[attr-defined]
    assert plan.settings.schedule["champion"] == "alphabeta_d2"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("alphabeta alphabeta", "alphabeta_1, alphabeta_2"),
        ("alphabeta alphabeta second.evaluation=iago", "square_weights, iago"),
        ("alphabeta alphabeta first.depth=5 second.evaluation=iago", "square_weights_d5, iago_d4"),
        ("alphabeta minimax second.depth=2", "alphabeta_d4, minimax_d2"),
        ("alphabeta champion first.depth=2", "alphabeta, champion"),
        ("greedy alphabeta second.depth=2", "greedy, alphabeta"),
        ("pvs pvs first.endgame=8 first.table_mb=4", "table_mb 4 endgame 8, table_mb 16 endgame 0"),
        (
            "alphabeta alphabeta first.evaluation=composite second.evaluation=composite "
            "second.evaluation.weights.mobility=3",
            "mobility 8, mobility 3",
        ),
    ],
)
def test_agents_of_a_duel_are_named_by_what_differs(words: str, names: str) -> None:
    first, second, *settings = words.split()
    plan = read(["agents=duel", f"agent@first={first}", f"agent@second={second}", *settings])
    assert ", ".join(plan.agents) == names


@pytest.mark.integration
def test_agents_and_heuristics_from_outside(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "mine.yaml").write_text(
        "_target_: misbehaving.Mine\nfavourite: f5\n", encoding="utf-8"
    )
    (tmp_path / "evaluation").mkdir()
    (tmp_path / "evaluation" / "corners_only.yaml").write_text(
        "_target_: othello_lab.SquareWeights\n"
        "weights: [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]\n",
        encoding="utf-8",
    )
    words = ["agents=duel", "agent@first=mine", "agent@second=alphabeta"]
    plan = read([*words, "evaluation=corners_only"], [tmp_path])
    assert plan.agents["mine"].make().favourite == "f5"  # type: ignore[attr-defined]
    assert plan.agents["alphabeta"].evaluation.weights.sum() == 4  # type: ignore[attr-defined]


def test_an_agent_without_any_limit_is_refused_before_a_game() -> None:
    duel = ["agents=duel", "agent@first=mcts", "agent@second=random", "first.playouts=null"]
    with pytest.raises(ConfigError, match=r"agent 'mcts': playouts: .*seconds"):
        read(duel)
    read([*duel, "limits.seconds=1"])


HOME = "${oc.env:HOME}"


@pytest.mark.integration
def test_strings_of_a_record_stay_what_they_are(tmp_path: Path) -> None:
    words = ["agents=ab_mirror", "depth=1", "games=2", "+agents.mine._target_=misbehaving.Mine"]
    words += [f"+agents.mine.favourite='\\{HOME}'", f"name='a \\{HOME}'"]
    mine: Any = read(words).agents["mine"]
    assert mine.make().favourite == HOME
    folder = played(tmp_path, *words).folder
    assert folder.parent == tmp_path / f"a {HOME}"
    resume(folder, "command", QUIET, games=4, trust=True)
    with Record.open(folder) as record:
        config = record.head()["config"]
        assert len(record.games()) == 4 * 3
    assert config["agents"]["mine"]["favourite"] == HOME
    assert typed(config).name == f"a {HOME}"


@pytest.mark.parametrize("attack", [HOME, f"\\{HOME}", "${oc.create:{a: 1}}", "${", "a ${b:"])
def test_a_record_cannot_ask_for_anything(attack: str) -> None:
    config = asdict(read([]).settings)
    config |= {"name": attack, "results": attack, "note": attack}
    config["openings"] |= {"file": attack}
    config["rating"] |= {"anchor": attack}
    settings = typed(config)
    assert asdict(settings) == config
    assert os.environ["HOME"] not in str(settings)


PVS = "agents=duel agent@first=greedy agent@second=limited agent@second.agent=pvs"


@pytest.mark.parametrize(
    ("words", "by_time"),
    [
        (f"{PVS} second.seconds=0.02", [None, True]),
        (f"{PVS} second.cpu_seconds=0.02 depth=3", [None, False]),
        (f"{PVS} second.seconds=0.02 second.agent.depth=3", [None, False]),
        (f"{PVS} second.nodes=500", [None, False]),
        ("agents=searches_equal limits.clock=10", [True, True, True, None]),
        ("agents=searches_equal limits.nodes=500", [False, False, False, None]),
        ("agents=ab_vs_minimax limits.seconds=0.1", [None, False]),
    ],
)
def test_time_decides_the_depth_unless_one_is_given(words: str, by_time: list[object]) -> None:
    """Of agents that can deepen."""
    agents = settings_of(words.split()).agents.values()
    assert [agent.get("agent", agent).get("depth_by_time") for agent in agents] == by_time


DUEL = "agents=duel agent@first=random agent@second"


@pytest.mark.parametrize(
    ("words", "named", "typed"),
    [
        (f"{DUEL}=greedy openings=start", "openings.repeats=true", ""),
        (f"{DUEL}=greedy openings=start", "games=2", ""),
        (f"{DUEL}=greedy ruleset=mini6 openings=balanced", "openings=random", ""),
        (f"{DUEL}=pvs ruleset=mini6 evaluation=iago", "evaluation=disc_count", ""),
        (f"{DUEL}=wpi second.command=./anna games=2", "openings=start", ""),
        (f"{DUEL}=greedy openings=file openings.file=f games=2", "openings.partly=true", ""),
        (f"{DUEL}=greedy openings.file=f openings.partly=true games=2", "openings=file", ""),
        (f"{DUEL}=alphabeta second.step=2", "set iterative", "second.iterative=true"),
        (f"{DUEL}=alphabeta second.etc=true", "set table_mb", "second.table_mb=4"),
        (f"{DUEL}=alphabeta study", "second.iterative=true", ""),
    ],
)
def test_what_a_message_names_as_the_cure_works_as_typed(
    words: str, named: str, typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f").write_text("f5d6\nf5d\n")

    def planned(words: str) -> None:
        plan = read(words.replace(" study", "").split())
        plan.choose_openings()
        if "study" in words:
            Scaling(levels=[100, 200], by="nodes").check(plan)

    with pytest.raises(ValueError, match=re.escape(named)):
        planned(words)
    planned(f"{words} {typed or named}")
