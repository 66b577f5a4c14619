"""What a configuration may say, and what is answered when it says something else."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import pytest
from chosen import mostly_nightly
from rich.console import Console

from othello_lab import AlphaBeta, DiscCount, GreedyAgent, SquareWeights
from othello_lab.agents.config import ConfigError, choices
from othello_lab.agents.external_agent import ExternalAgent
from othello_lab.experiments.config import read, typed
from othello_lab.experiments.jobs.run import resume, run
from othello_lab.experiments.record.store import Record
from othello_lab.experiments.studies.study_plan import read as study_plan
from othello_lab.experiments.sweep.composing import expand


@pytest.mark.parametrize("name", sorted(set(choices("agents")) - {"alone", "duel", "folder"}))
@pytest.mark.parametrize("rules", mostly_nightly(["standard", "wpi"], ["standard"]))
def test_every_line_up_can_be_run(name: str, rules: str) -> None:
    plan = read([f"agents={name}", f"ruleset.name={rules}"])
    assert len(plan.agents) >= 2
    assert plan.settings.name == name


# Evaluations: see test_heuristics.py, test_a_board_it_is_not_made_for_is_refused.
@pytest.mark.parametrize("group", ["executor", "openings", "ruleset"])
def test_every_option_of_every_group_can_be_chosen(group: str) -> None:
    extra = {
        "ruleset": ["evaluation=disc_count"],
        "file": ["openings.file=my.txt"],
    }
    chosen = {}
    for option in choices(group):
        if option == "dask" and find_spec("distributed") is None:
            continue
        plan = read([f"{group}={option}", *extra.get(group, []), *extra.get(option, [])])
        chosen[option] = str(getattr(plan.settings, group))
    assert len(set(chosen.values())) == len(chosen), "two options are the same"


def test_top_level_depth_and_evaluation_fill_what_a_line_up_leaves_open() -> None:
    plan = read(["agents=ab_mirror", "depth=6", "evaluation=disc_count", "agents.left.depth=3"])
    left, right = plan.agents["left"], plan.agents["right"]
    assert isinstance(left, AlphaBeta)
    assert isinstance(right, AlphaBeta)
    assert (left.depth, right.depth) == (3, 6)
    assert isinstance(left.evaluation, DiscCount)
    assert plan.settings.agents["right"]["depth"] == 6


def test_two_agents_meet_without_a_file() -> None:
    plan = read(["agents=duel", "agent@first=alphabeta", "agent@second=greedy", "first.depth=5"])
    first, second = plan.agents["alphabeta"], plan.agents["greedy"]
    assert isinstance(first, AlphaBeta)
    assert isinstance(second, GreedyAgent)
    assert first.depth == 5
    assert isinstance(first.evaluation, SquareWeights)


def test_plain_overrides() -> None:
    words = [
        "depth=5",
        "evaluation=disc_count",
        "seed=7",
        "games=400",
        "executor.workers=2",
        "ruleset=wpi",
    ]
    plan = read(words)
    settings = plan.settings
    assert (settings.depth, settings.seed, settings.games) == (5, 7, 400)
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


@pytest.mark.parametrize(("agent", "words", "expected"), COMPOSED)
def test_an_evaluation_is_named_where_it_is_used(
    agent: str,
    words: list[str],
    expected: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hollow.py").write_text(MINE + HOLLOW, encoding="utf-8")
    plan = read(["agents=duel", f"agent@first={agent}", "agent@second=greedy", *words])
    settings = plan.settings.agents[plan.names[0]]
    evaluation = settings.get("agent", settings)["evaluation"]
    weights = evaluation.get("weights", {})
    assert expected in (evaluation, evaluation.get("target"), weights.get("corners"))


def test_a_line_up_names_the_evaluations_of_its_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hollow.py").write_text(HOLLOW, encoding="utf-8")
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "named.yaml").write_text(
        "# Named\ndefaults:\n  - /agent@a: weighted\n  - /agent@b: alphabeta\n\n"
        "a: {evaluation: composite}\nb: {depth: 2, evaluation: ./hollow.py:hollow}\n",
        encoding="utf-8",
    )
    words = ["agents=named", "agents.a.evaluation.weights.corners=3"]
    agents = read(words, [tmp_path]).settings.agents
    assert agents["a"]["evaluation"]["weights"]["corners"] == 3
    assert agents["b"]["evaluation"]["target"] == "./hollow.py:hollow"
    agents = read([*words[:1], "agents.b.evaluation=iago"], [tmp_path]).settings.agents
    assert agents["b"]["evaluation"] == IAGO


def test_a_sweep_varies_named_evaluations() -> None:
    words = ["agents=ab_mirror", "agents.left.evaluation=iago,composite", "depth=2"]
    found = [read(each).settings.agents["left"]["evaluation"] for each in expand(words)]
    assert [str(each["_target_"]).rpartition(".")[2] for each in found] == ["Iago", "Composite"]


def test_an_evaluation_of_a_study_is_named_in_the_same_way() -> None:
    words = ["agents=ab_mirror", "agents.left.evaluation=iago"]
    plan = study_plan("pruning", words).plan
    assert plan.settings.agents["left"]["evaluation"] == IAGO
    with pytest.raises(ConfigError, match=r"^agents\.left\.evaluation: unknown evaluation 'igo'"):
        study_plan("pruning", [*words[:1], "agents.left.evaluation=igo"])


@pytest.mark.parametrize(
    ("default", "complaint"),
    [
        ("agent@a: greedy", r"slash, - /agent@NAME: greedy"),
        ("/agent@a: gredy", r"unknown agent 'gredy'.*Did you mean 'greedy'"),
        ("nothing: here", r"agents/two\.yaml names agents/nothing/here\.yaml, which is in none"),
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
    assert list(plan.agents) == ["depth 4", "depth 2"]
    assert plan.agents["depth 2"].depth == 2  # type: ignore[attr-defined]
    assert plan.settings.schedule["champion"] == "depth 2"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("alphabeta alphabeta", ["alphabeta_1", "alphabeta_2"]),
        ("alphabeta alphabeta second.evaluation=iago", ["square_weights", "iago"]),
        (
            "alphabeta alphabeta first.depth=5 second.evaluation=iago",
            ["square_weights depth 5", "iago depth 4"],
        ),
        ("alphabeta minimax", ["alphabeta", "minimax"]),
        ("alphabeta minimax second.depth=2", ["alphabeta depth 4", "minimax depth 2"]),
        ("alphabeta champion first.depth=2", ["alphabeta", "champion"]),
        ("greedy alphabeta second.depth=2", ["greedy", "alphabeta"]),
        ("mcts mcts first.playouts=50", ["playouts 50", "playouts 2000"]),
        (
            "pvs pvs first.endgame=8 first.table_mb=4",
            ["table_mb 4 endgame 8", "table_mb 16 endgame 0"],
        ),
        (
            "alphabeta alphabeta first.evaluation=composite second.evaluation=composite "
            "second.evaluation.weights.mobility=3",
            ["mobility 8", "mobility 3"],
        ),
    ],
)
def test_agents_of_a_duel_are_named_by_what_differs(words: str, names: list[str]) -> None:
    first, second, *settings = words.split()
    plan = read(["agents=duel", f"agent@first={first}", f"agent@second={second}", *settings])
    assert list(plan.agents) == names


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


BAD = {
    "evaluation=function": r"evaluation\.target is left open; set evaluation\.target=",
    "evaluation=function evaluation.target=./nowhere.py:f": r"there is no file \./nowhere\.py",
    "evaluation=iago ruleset=mini6": r"evaluation iago of agent 'minimax' .* boards of 8x8",
    "evaluation=composite +evaluation.weights.mobilty=3": r"unknown feature 'mobilty'.*'mobility'",
    "evaluation=composite evaluation.weights.mobility=nan": r"mobility=nan: a number from",
    "agents=clasics": r"unknown line-up 'clasics'; .*ab_mirror.* Did you mean 'classics'",
    "agents=duel agent@first=alphabta agent@second=greedy": r"unknown agent 'alphabta'.*alphabeta",
    "agents=duel agent@first=greedy": r"agent@second",
    "evaluation=disk_count": r"unknown evaluation 'disk_count'; .* Did you mean 'disc_count'",
    "agents=duel agent@first=./nowhere.py:Mine agent@second=greedy": (
        r"agent 'Mine': target: there is no file ./nowhere.py in /"
    ),
    "agents=duel agent@first=nowhere:Mine agent@second=greedy": r"'nowhere'.*\(searched: /.*\)",
    "agents=duel agent@first=./mine.py agent@second=greedy": r"the class .*first=./mine.py:NAME",
    "agents=duel agent@first=misbehaving:Raise agent@second=greedy": r"Did you mean 'Raises'",
    "agents=duel agent@first=misbehaving:Raises agent@second=greedy first.dpth=3": (
        r"agent 'Raises': .* has no setting 'dpth'"
    ),
    "agents=duel agent@first=alphabeta agent@second=greedy agents.greedy.depth=4": (
        r"a duel are set as first\.depth and second\.depth"
    ),
    "agents=classics agents.greedy.depth=4": r"greedy has no setting 'depth'; it has: none",
    "agents=classics agents.gredy.depth=4": r"line-up 'gredy'; .* Did you mean 'greedy'",
    "evaluation=composite evaluation.weights.mobilty=4": r"Did you mean '.*\.mobility'",
    "openings.file=mine.txt": r"openings\.file only goes with openings=file",
    "agent=alphabeta": r"agents=duel agent@first=alphabeta agent@second=NAME",
    "+agent=greedy": r"agents=duel agent@first=greedy",
    "agents=duel agent@first=alphabeta agent@second=greedy second.depth=4": (
        r"second\.depth: greedy has no setting 'depth'; it has: none"
    ),
    "agents=duel agent@first=alphabeta agent@second=greedy first.dept=4": (
        r"first\.dept: alphabeta has no setting 'dept'; it has: .*depth"
    ),
    "ruleset=wpy": r"unknown ruleset 'wpy'; choose from .* Did you mean 'wpi'",
    "ruleset.name=chess": r"unknown ruleset\.name 'chess'; choose from",
    "executor=threads": r"unknown executor 'threads'; choose from dask, processes, serial",
    "executor._target_=othello_lab.AlphaBeta": r"executor: .*(has no setting|AlphaBeta)",
    "executor._target_=othello_lab.GreedyAgent": r"executor: .*has no setting 'workers'",
    "depth=0": r"depth=0: a whole number of 1 or more is needed",
    "depth=-2": r"depth=-2",
    "depth=deep": r"depth=deep.*whole number",
    "depth=2.5": r"depth=2\.5.*whole number",
    "depth=65": r"depth=65: a whole number from 1 to 64",
    "games=0": r"games=0: an even number",
    "games=7": r"games=7: an even number",
    "games=-2": r"games=-2",
    "games=many": r"games=many",
    "seed=-1": r"seed=-1",
    "openings.plies=-1": r"openings\.plies=-1",
    "openings.plies=null": r"openings\.plies=null: a whole number of 0 or more is needed",
    "openings.plies=x": r"openings\.plies=x: a whole number",
    "openings=al": r"unknown openings 'al'; choose from all, balanced, file, random, start\.",
    "openings.kind=al": r"unknown setting 'openings\.kind'",
    "openings=file": r"openings\.file is left open; set openings\.file=",
    "openings=file openings.file=my.txt openings.plies=-1": r"openings\.plies=-1: .* or null, is",
    "openings=start openings.plies=3": r"openings\.plies only goes with openings=all",
    "openings=start +openings.plies=3": r"StartOpening has no setting 'plies'; .*repeats",
    "+openings.file=my.txt": r"openings: .*RandomOpenings has no setting 'file'",
    "openings=balanced ruleset=mini6 evaluation=disc_count": r"made for 8x8; ruleset mini6 is 6x6 "
    r"\(openings=random is for all boards\)",
    "openings=balanced ruleset=mini4 evaluation=disc_count": r"made for 8x8; ruleset mini4 is 4x4",
    "executor.workers=0": r"executor\.workers=0: a whole number of 1 or more, or null, is needed",
    "executor=serial executor.workers=2": r"executor\.workers only goes with executor=dask or",
    "executor=dask executor.workers=0": r"executor\.workers=0: a whole number of 1 or more",
    "executor=dask executor.address=tcp://x:1 executor.workers=2": r"executor\.workers=2: .* has",
    "+executor.address=tcp://x:1": r"executor: .*Processes has no setting 'address'",
    "limits.seconds=0": r"limits\.seconds=0",
    "limits.grace=-1": r"limits\.grace=-1",
    "limits.hang=0": r"limits\.hang=0",
    "export=[xls]": r"unknown export 'xls'; choose from csv, parquet",
    "log_level=loud": r"unknown log_level 'loud'",
    "name=../elsewhere": r"name=\.\./elsewhere",
    "dpeth=3": r"unknown setting 'dpeth'\. Did you mean 'depth'",
    "+dpeth=3": r"unknown setting 'dpeth'\. Did you mean 'depth'",
    "executor.worker=3": r"unknown setting 'executor\.worker'.*'executor\.workers'",
    "agents.minimax.depht=3": (
        r"agents\.minimax\.depht: minimax has no setting .*mean 'agents.minimax.depth'"
    ),
    "depth": r"cannot read 'depth': settings are written key=value",
    "=3": r"cannot read '=3'",
    "ruleset=mini6": r"evaluation square weights of agent 'minimax' .* 8x8; .* mini6 is 6x6",
    "agents=duel agent@first=random agent@second=greedy depth=3": r"depth=3: no agent .* open",
    "agents=duel agent@first=random agent@second=greedy evaluation=disc_count": r"no effect",
    "+agents.extra._target_=nowhere.Agent": r"agent 'extra'.*No module named 'nowhere'",
    "+agents.extra._target_=misbehaving.Nobody": r"agent 'extra'.*misbehaving\.Nobody",
    "+agents.extra._target_=misbehaving.NotAnAgent": r"agent 'extra'.*no Agent",
    "+agents.extra._target_=othello_lab.AlphaBeta": (
        r"'extra': othello_lab\.AlphaBeta needs depth.*; with depth: \?\?\?"
    ),
    "+agents.minimax.depht=3": r"agent 'minimax': .* no setting 'depht'.* mean 'depth'\?",
    "+agents.extra.depth=3": r"agent 'extra' has no _target_",
    "agents.minimax.evaluation._target_=othello_lab.RandomAgent": "unknown setting|not an Eval",
    "evaluation._target_=othello_lab.RandomAgent": r"othello_lab\.RandomAgent is no .*Evaluation",
    "agents.minimax=5": r"agent 'minimax'",
    "agents.minimax.evaluation=igo": r"^agents\.minimax\.evaluation: unknown evaluation 'igo'; "
    r"choose from .* Did you mean 'iago'\?$",
    "agents.minimax.evaluation=./no.py:f": r"^agent 'minimax'\.evaluation: .* no file \./no\.py",
    "agents.minimax.evaluation=./no.py": r"^agents\.minimax\.evaluation: \./no\.py: the function",
    "agents=classics agents.greedy.evaluation=iago": r"greedy has no setting 'evaluation'",
    "evaluation=./nowhere.py:f": r"^evaluation: target: there is no file \./nowhere\.py in ",
    "evaluation=./nowhere.py": r"^evaluation=\./nowhere\.py: the function in that file is missing",
    "+agent@agents.mine=./nowhere.py": r"the class in that file is missing; .*\.py:NAME is needed",
}


@pytest.mark.parametrize("words", BAD, ids=str)
def test_bad_input_gets_one_line_that_names_the_bad_part(words: str) -> None:
    with pytest.raises(ConfigError, match=BAD[words]) as caught:
        read(words.split())
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_without_dask_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        ConfigError, match=r"executor=dask needs distributed; pip install .*\[dask\]"
    ):
        read(["executor=dask"])


def test_a_missing_folder_of_yamls_is_named() -> None:
    with pytest.raises(ConfigError, match="no such folder"):
        read([], ["nowhere"])


def test_an_agent_without_any_limit_is_refused_before_a_game() -> None:
    duel = ["agents=duel", "agent@first=mcts", "agent@second=random", "first.playouts=null"]
    with pytest.raises(ConfigError, match=r"agent 'mcts': playouts: set it, or seconds"):
        read(duel)
    read([*duel, "limits.seconds=1"])


# ---------------------------------------------------------------------- strings

HOME = "${oc.env:HOME}"


@pytest.mark.integration
def test_strings_of_a_record_stay_what_they_are(tmp_path: Path) -> None:
    words = ["agents=ab_mirror", "depth=1", "games=2", "executor=serial", f"results={tmp_path}"]
    words += ["+agents.mine._target_=misbehaving.Mine", "figures=false"]
    words += [f"+agents.mine.favourite='\\{HOME}'", f"name='a \\{HOME}'"]
    plan = read(words)
    assert plan.agents["mine"].make().favourite == HOME  # type: ignore[attr-defined]
    console = Console(quiet=True)
    folder = run(plan, "command", console).folder
    assert folder.parent == tmp_path / f"a {HOME}"
    resume(folder, "command", console, games=4, trust=True)
    with Record.open(folder) as record:
        config = record.run()["config"]
        assert len(record.games()) == 4 * 3
    assert config["agents"]["mine"]["favourite"] == HOME
    assert typed(config).name == f"a {HOME}"


@pytest.mark.parametrize("attack", [HOME, f"\\{HOME}", "${oc.create:{a: 1}}", "${", "a ${b:"])
def test_a_record_cannot_ask_for_anything(attack: str) -> None:
    config = asdict(read([]).settings)
    config |= {"name": attack, "results": attack, "export": [attack]}
    config["openings"] |= {"file": attack}
    config["rating"] |= {"anchor": attack}
    settings = typed(config)
    assert asdict(settings) == config
    assert os.environ["HOME"] not in str(settings)
