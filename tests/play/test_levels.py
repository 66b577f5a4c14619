"""The levels for people: in order, measured, and at hand everywhere."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import yaml
from runs import line_of

from othello_lab.__main__ import room_main
from othello_lab.agents.composing import choices, conf_folder
from othello_lab.agents.ladder import ladder, levels
from othello_lab.core.rules import Color, ruleset
from othello_lab.core.system.settings import ConfigError
from othello_lab.experiments.config import read as read_run
from othello_lab.play.config import CHAMPION, LEVEL, read
from othello_lab.play.levels_command import write_ladder
from othello_lab.play.web.catalogue import Catalogue


def test_ten_levels_grow_stronger_in_the_order_of_their_line_up() -> None:
    rungs = levels()
    names = [level.name for level in rungs]
    agents = read_run(["agents=levels"]).settings.agents
    assert len(rungs) == 10
    assert names == list(agents)
    assert set(names) == set(choices(LEVEL))
    assert (names[0], names[-1]) == ("starter", CHAMPION) and rungs[0].elo == 0
    for weaker, stronger in itertools.pairwise(rungs):
        assert weaker.high < stronger.low, "surely apart"
    # Only what is weaker than looking one move ahead errs on purpose.
    assert [name for name, agent in agents.items() if "share" in agent] == ["beginner"]
    assert names.index("beginner") < names.index("learner")
    assert agents["learner"]["_target_"].endswith("Maximizer")
    measured = conf_folder() / "levels.yaml"
    assert yaml.safe_load(measured.read_text(encoding="utf-8"))["games"] >= 500


def test_a_level_plays_by_its_name() -> None:
    setup = read(["white=casual", "white.depth=3"])
    white = setup.players[Color.WHITE]
    assert white.name == "casual"
    assert white.agent is not None and white.agent["depth"] == 3
    assert setup.hint.name == CHAMPION
    assert read(["black=beginner", "white=human"]).players[Color.BLACK].name == "beginner"
    with pytest.raises(ConfigError, match="Did you mean 'casual'"):
        read(["white=casul"])


@pytest.mark.integration
def test_a_page_may_choose_but_not_change_levels_and_programs(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "rhino.yaml").write_text(
        "# An engine\n_target_: othello_lab.agents.external.GtpAgent\n"
        "command: gtp-rhino\nsettings: []\n",
        encoding="utf-8",
    )
    catalogue = Catalogue(read([], [str(tmp_path)]))
    unlisted = {"function", "gtp", "line", "nboard", "openspiel", "wpi"}
    assert set(choices("agent")) - set(catalogue.agents) == unlisted
    assert [level["elo"] for level in catalogue.data["levels"]] == [level.elo for level in levels()]
    rules = ruleset("standard")
    chosen, engine = (catalogue.player(name, {}, rules) for name in ("expert", "rhino"))
    assert chosen.agent is not None and chosen.agent["depth"] == 8
    assert catalogue.knows(chosen)
    assert engine.agent is not None and engine.agent["command"] == "gtp-rhino"
    for name, key, value in (
        ("expert", "depth", 9),
        ("rhino", "command", "halt"),
        ("rhino", "settings", ["halt"]),
        ("rhino", "patience", 1),
    ):
        with pytest.raises(ConfigError, match=name if name == "expert" else key):
            catalogue.player(name, {key: value}, rules)
    with pytest.raises(ConfigError):
        catalogue.player("expert", {}, ruleset("mini6"))


def test_levels_are_listed() -> None:
    shown = line_of("play", "levels")
    for level in levels():
        assert level.name in shown
        assert f" {level.elo} " in shown


def test_too_few_games_write_nothing(tmp_path: Path) -> None:
    path = tmp_path / "levels.yaml"
    rows = {"starter": {"elo": 0.0, "low": float("-inf"), "high": 3.0}}
    with pytest.raises(ConfigError, match="too few games"):
        write_ladder(rows, {}, 2, path)
    assert not list(tmp_path.iterdir())


@pytest.mark.integration
def test_one_command_measures_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    weak = "agents.champion.depth=8"
    words = ["games=20", "figures=none", weak, "agents.champion.endgame=12"]
    others = set(choices("agents")) - {"classics"}
    monkeypatch.setattr("othello_lab.play.levels_command.NOT_MEASURED", others)
    assert room_main("play", ["levels", "--measure", "--output", "levels.yaml", *words]) == 0
    rungs = levels(tmp_path)
    assert {level.name for level in rungs} == {level.name for level in levels()}
    assert all(rung.low <= rung.elo <= rung.high for rung in ladder(tmp_path))
    assert yaml.safe_load(Path("levels.yaml").read_text())["games"] == 20
    by_name = {rung.name: rung for rung in ladder(tmp_path)}
    assert len(by_name) == 16
    minimax = by_name["classics.minimax_2"]
    assert (minimax.agent, minimax.evaluation) == ("minimax", "square_weights")
    assert by_name["classics.random"].elo == 0, "the level starter"
    assert by_name["classics.greedy"].elo < by_name["classics.alphabeta_5"].elo
    assert (
        room_main("play", ["levels", "--measure", "--output", "nowhere/levels.yaml", *words]) == 2
    )
