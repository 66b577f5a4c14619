"""Commands that cannot be done: one line names the bad part, the exit code is 2, and nothing is
written."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from refusals import refuses
from submitted import hand_in

REFUSED = r"""
= core {}
perftt ¦ perftt
perft --depth 0 ¦ 0
perft --depth 2.5 ¦ '2.5'
perft --depth ¦ --depth
perft --ruleset standart ¦ 'standard'
perft --sideways ¦ --sideways
= agents {}
evaluate f5d6c3d ¦ left over
evaluate f5f5 ¦ move 2 ... f5: ... occupied
evaluate z9 ¦ a ... not ... square
evaluate a1 ¦ traps nothing
evaluate '----------------------------------------------------------------- X' ¦ 65 ... 64
evaluate '---------------------------------------------------------------- Z' ¦ side to move 'Z'
evaluate 'QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ X' ¦ 'Q' ... a1
evaluate '' --evaluation iagoo ¦ 'iagoo' ... 'iago'
evaluate '' --evaluation function ¦ target
evaluate '' --evaluation nowhere.py:f ¦ nowhere.py
evaluate '' --evaluation : ¦ path/to/file.py:function
evaluate '' --evaluation iago --ruleset mini6 ¦ iago ... 6x6
evaluate ¦ position
evaluate '' --depth ¦ --depth
solve '' --ruleset chess ¦ 'chess'
list evals ¦ evals
= match greedy iago {}
gamse=40 ¦ 'gamse' ... 'games'
limits.secnds=1 ¦ 'limits.secnds' ... 'limits.seconds'
= agents solve {}
f5d6c3d ¦ left over
nowhere.obf ¦ no file nowhere.obf
handed ¦ folder
'---------------------------------------------------------------- Z' ¦ side to move 'Z'
'---------------------------------------------------------------- X; A1:+2' ¦ legal
f5 --table 999999999999 ¦ this machine has
f5 --threads 0 ¦ --threads: 0
f5 --threads 65 ¦ --threads: 65
= agents show {}
alphabta ¦ alphabeta, ... casual, ... Did you mean 'alphabeta'
classics.x ¦ minimax_2
= run agents=ab_mirror evaluation=composite {}
+evaluation.weights.mobilty=4 ¦ 'mobilty' ... 'mobility'
evaluation.weights.mobilty=4 ¦ weights.mobilty
evaluation.weights.mobility=many ¦ weights.mobility=many:
evaluation.weights=null ¦ at least one weight
evaluation.stages=[{empties:[0,30]}] ¦ covers 31
evaluation.stages=8 ¦ stages
ruleset=mini6 ¦ 8x8 ... mini6
= run agents=ab_mirror evaluation=function {}
 ¦ evaluation.target
evaluation.target=nowhere.py:f ¦ no file nowhere.py
evaluation.target=nowhere ¦ path/to/file.py:function
evaluation.target=mine.py:hollow evaluation.scale=0 ¦ scale=0:
evaluation.target=mine.py:hollow evaluation.scale=nan ¦ scale=nan
evaluation.target=mine.py:hollow evaluation.scale=big ¦ scale
evaluation.target=mine.py:hollow evaluation.scale=null ¦ scale
evaluation.target=mine.py:hollow evaluation.compiled=perhaps ¦ compiled
evaluation.target=mine.py:hollow evaluation.sacle=3 ¦ sacle
= run DUEL {}
isolation.kind=shut ¦ isolation.kind 'shut' ... auto, process, closed, none
isolation.reads=[/nowhere] ¦ isolation.reads: /nowhere
isolation=process isolation.writes=[/tmp] ¦ isolation.writes: ... isolation=process
isolation=none isolation.network=true ¦ isolation.network: ... isolation=none
isolation.reads=here ¦ list
~games=3 ¦ ~games=3: ... 100 ... ~games
~name ¦ name=???
tags={} ¦ tags={}
limits=${nope} limits.seconds=3 ¦ 'limits.seconds'
isolation.chidlren=true ¦ chidlren
= match random {}
greedy until=never ¦ until=decided
greedy depth ¦ key=value
greedy second=0.05 ¦ seconds=
 ¦ SECOND
= plan {}
draws=0.1 ¦ elo=...
elo=many ¦ elo=many: a number
elo=inf ¦ elo=inf: a finite number
elo=0 ¦ elo=0: more than elo0=0
elo=1e-300 ¦ elo=1e-300: no match
elo=5 elo1=-1 ¦ elo0=0 elo1=-1:
elo=5 power=1 ¦ power=1.0:
elo=5 alpha=0.5 ¦ alpha=0.5:
elo=5 draws=1 ¦ draws=1.0:
elo=5 split=-0.1 ¦ split=-0.1:
elo=400 draws=0.5 ¦ too few games
elo=5 agents=nobody ¦ 'nobody'
elo=5 agents=classics no_setting=1 ¦ 'no_setting'
= run {}
agents=clasics ¦ 'clasics'
nonsense ¦ 'nonsense'
--nonsense ¦ --nonsense
--config-dir nowhere ¦ --config-dir nowhere
results=/proc/nowhere games=2 depth=1 ¦ /proc/nowhere
openings.plies=0 games=10 ¦ openings
depth=1,2 ¦ depth=1,2
depth=zip(1,2) ¦ depth=zip(1,2)
agents=[1,2] ¦ agents=[1,2]
evaluation=iago ruleset=mini6 ¦ iago ... 'minimax' ... 8x8
agents=duel agent@first=greedy ¦ agent@second
evaluation=disk_count ¦ 'disk_count'; ... 'disc_count'
DUEL depth=3 ¦ depth=3: no agent
DUEL evaluation=disc_count ¦ no effect
agents=classics agents.greedy.depth=4 ¦ greedy ... 'depth'; ... : none
agents=classics agents.gredy.depth=4 ¦ 'gredy'; ... 'greedy'
openings.file=mine.txt ¦ openings.file ... openings=file
agent=alphabeta ¦ agents=duel agent@first=alphabeta agent@second=NAME
ruleset.name=chess ¦ ruleset.name 'chess'; choose
executor=threads ¦ 'threads'; ... dask, processes, serial
executor._target_=othello_lab.GreedyAgent ¦ executor: ... 'workers'
depth=0 ¦ depth=0: a whole number of 1 or more
depth=2.5 ¦ depth=2.5 ... whole number
depth=65 ¦ depth=65: a whole number from 1 to 64
games=0 ¦ games=0: an even number
games=7 ¦ games=7: an even number
games=many ¦ games=many
seed=-1 ¦ seed=-1
openings.plies=-1 ¦ openings.plies=-1
openings.plies=null ¦ openings.plies=null: a whole number of 0 or more
openings.kind=al ¦ 'openings.kind'
openings=file ¦ openings.file=
openings=file openings.file=my.txt openings.plies=-1 ¦ openings.plies=-1: ... null
openings=start +openings.plies=3 ¦ StartOpening ... 'plies'; ... repeats
openings=balanced ruleset=mini6 evaluation=disc_count ¦ 8x8; ... 6x6 ... openings=random
executor.workers=0 ¦ executor.workers=0: a whole number of 1 or more, or null
executor=serial executor.workers=2 ¦ executor.workers ... executor=dask or
executor=dask executor.workers=0 ¦ executor.workers=0: a whole number of 1 or more
executor=dask executor.address=tcp://x:1 executor.workers=2 ¦ executor.workers=2: ... has
limits.seconds=0 ¦ limits.seconds=0
limits.grace=-1 ¦ limits.grace=-1
limits.hang=0 ¦ limits.hang=0
export=[xls] ¦ 'xls'; ... csv, parquet
log_level=loud ¦ log_level 'loud'
name=../elsewhere ¦ name=../elsewhere
dpeth=3 ¦ 'dpeth' ... 'depth'
+dpeth=3 ¦ 'dpeth' ... 'depth'
agents.minimax.depht=3 ¦ agents.minimax.depht: ... 'agents.minimax.depth'
=3 ¦ '=3'
+agents.extra._target_=nowhere.Agent ¦ 'extra' ... 'nowhere'
+agents.extra._target_=misbehaving.Nobody ¦ 'extra' ... misbehaving.Nobody
+agents.extra._target_=misbehaving.NotAnAgent ¦ 'extra' ... no Agent
+agents.extra._target_=othello_lab.AlphaBeta ¦ 'extra': othello_lab.AlphaBeta ... depth
+agents.minimax.depht=3 ¦ 'minimax': ... 'depht' ... 'depth'
+agents.extra.depth=3 ¦ 'extra' ... _target_
agents.minimax.evaluation._target_=othello_lab.RandomAgent ¦ unknown setting 'agents.minimax.ev
evaluation._target_=othello_lab.RandomAgent ¦ othello_lab.RandomAgent ... Evaluation
agents.minimax=5 ¦ agent 'minimax'
agents.minimax.evaluation=igo ¦ othello-lab: agents.minimax.evaluation: ... 'igo'; ... 'iago'?
agents.minimax.evaluation=./no.py:f ¦ othello-lab: agent 'minimax'.evaluation: ... ./no.py
agents.minimax.evaluation=./no.py ¦ othello-lab: agents.minimax.evaluation: ./no.py: ... function
evaluation=./nowhere.py:f ¦ othello-lab: evaluation: target: ... ./nowhere.py in
evaluation=./nowhere.py ¦ othello-lab: evaluation=./nowhere.py: ... function
+agent@agents.mine=./nowhere.py ¦ class ... .py:NAME
+published.games=3 ¦ published ... source
experiment=paip_1ply +published.points.random.nobody=3 ¦ published 'nobody'
experiment=paip_1ply published.points.random.mobility=11 ¦ random.mobility=11
experiment=paip_1ply published.points.random=3 ¦ published.points.random
experiment=paip_ordering published.game.moves=f6c6 ¦ published.game.made.none: 2 numbers
experiment=paip_ordering published.game.moves=a1 ¦ published.game: move 1
experiment=paip_ordering published.game.position=nothing ¦ published.game
experiment=paip_ordering +published.game.made.nobody=[1] ¦ published.game.made 'nobody'
searches.positions=0 ¦ searches.positions=0: ... 1 or more
searches.positions=many ¦ searches.positions=many
searches.baseline=nobody ¦ searches.baseline 'nobody'; ... alphabeta, minimax
searches.depths=[3,65] ¦ searches.depths=65: ... 1 to 64
searches.depths=3 ¦ searches.depths
train=two ¦ othello-lab train two
DUEL rating.anchor=randm ¦ rating.anchor 'randm'; choose from
folder=handed ¦ agents=folder
= {}
rnu agents=classics ¦ 'rnu'
= run agents=classics games=2 {}
schedule=class openings=start ¦ may need 9, ... only one opening ... repeats
schedule=swiss schedule.rounds=0 ¦ schedule.rounds=0: a whole number of 1 or more
schedule=swiss schedule.rounds=4 ¦ rounds=4: a whole number from 1 to 3
schedule=knockout schedule.replays=-1 ¦ schedule.replays=-1: a whole number of 0
schedule=class schedule.preliminary=0 ¦ schedule.preliminary=0: a whole number of
schedule=class schedule.win=-1 ¦ schedule.win=-1: a number of 0 or more
= run -m {}
games=zip(1,2) depth=zip(1,2,3) ¦ games has 2, depth has 3
depth=1,0 ¦ depth=0
agents=ab_mirror,clasics ¦ clasics
depth=1,2 hydra/launcher=basic ¦ hydra/launcher=basic
depth=1,2 results=/proc/nowhere ¦ /proc/nowhere
depth=interval(1,3) ¦ values to choose from
depth=[1 ¦ depth=[1
= run experiment=class {}
 ¦ folder=FOLDER
folder=none ¦ folder=none
folder=. protocol=gtp ¦ file, line
folder=handed ¦ at least two agents
folder=handed isolation=none ¦ isolation=none
folder=handed +agent@agents.file0=greedy ¦ agents.file0
folder=handed +agent@agents.a=greedy limits.depth=3 ¦ limits.depth=3
folder=handed +agent@agents.a=greedy openings=random ¦ begins elsewhere than at
= study {}
nothing ¦ study 'nothing'; choose from
depth=3 ¦ depth=3: first the name of a study; choose from
pruning study.nothing=1 ¦ unknown setting 'study.nothing'
pruning positions=5 ¦ 'positions'. Did you mean 'study.positions'?
pruning study.positions=0 ¦ positions=0
pruning agents=heuristics ¦ no agent of this line-up is a search
pruning study.depths=[] ¦ study.depths is empty
pruning limits.nodes=5 ¦ limits do not go
pruning study.run=nowhere ¦ study.run=nowhere
pruning ruleset=mini4 evaluation=disc_count study.depths=[12] ¦ no positions
errors study.run=nowhere ¦ study.run=nowhere
errors study.empties=31 ¦ empties=31
errors --nothing ¦ --nothing
losses agents=classics ¦ two agents
losses DUEL record=games ¦ record=all
losses DUEL ruleset=mini6 ¦ 6x6; set study.evaluation
losses DUEL study.evaluation=mobility ¦ set study.per_disc
losses study.evaluation=nonsense ¦ nonsense
losses study.first_ply=9 study.last_ply=8 ¦ study.first_ply=9
losses study.depth=2 ¦ depth
losses study.exact=61 ¦ exact
losses study.run=nowhere ¦ study.run=nowhere
scaling study.levels=[2] ¦ two or more, ascending
scaling study.levels=[2,1] ¦ two or more, ascending
scaling study.levels=[1.5,2] ¦ whole numbers
scaling study.levels=[1,100] ¦ 64 at most
scaling study.by=nodes ¦ iteratively
scaling agents=duel agent@first=random agent@second=pvs ¦ has no depth
= study claims depth=2 {}
'study.claims=["alphabeta(dept 3) >= greedy"]' ¦ alphabeta has no setting 'dept'; it has depth,
'study.claims=["alphabta >= greedy"]' ¦ Did you mean 'alphabeta'?
'study.claims=["alphabeta(iago, depth 1) >= alphabeta(depth 1, iago)"]' ¦ itself
'study.claims=["random(iago) >= greedy"]' ¦ random has no evaluation
'study.claims=["nodes(random) <= 5"]' ¦ random is no search
study.claims=[5] ¦ study.claims[0]=5
study.claims=[] ¦ a list of claims
study.claims=nowhere.yaml ¦ nowhere.yaml
'study.claims=["player.py:Student(depth 1) > random"]' ¦ needs evaluation
'study.claims=["player.py:Student(depth 1, iagoo) > random"]' ¦ Did you mean 'iago'?
= selfplay {}
data.exact=30 ¦ data.exact=30: ... 24
data.random_plies=[9,3] ¦ random_plies=[9, 3]
data.endgames=perfekt ¦ 'perfect'
data.exakt=3 ¦ data.exakt
agent=alphabetta ¦ 'alphabetta'
agent=greedy depth=3 ¦ depth
data.read=[nowhere.wtb] ¦ nowhere.wtb: cannot be read
schedule=swiss ¦ schedule=swiss
games=0 ¦ games=0
--fast ¦ --fast
= positions {}
games.ggf games=4 ¦ games=4:
games.ggf data.unit=10 ¦ data.unit=10:
games=3 ¦ FILE
= train two --config-dir=conf DUEL games=4 depth=1 executor=serial {}
train.nothing=1 ¦ 'nothing'
matches=false ¦ 'train.matches'
train.curve=[5,3] ¦ train.curve=[5, 3]
train.rounds={} ¦ train.rounds is needed
train.rounds.first.agent=trained ¦ nothing is trained yet
train.rounds.first.gmaes=5 ¦ train.rounds.first 'gmaes'
train.rounds.frist.games=5 ¦ 'frist'
train.rounds.first.exact=99 ¦ exact=99
train.rounds.first.agent=nobody ¦ unknown agent 'nobody'
train.player=nobody ¦ unknown agent 'nobody'
train.player=greedy ¦ no evaluation
train.data=[/nowhere.parquet] ¦ /nowhere.parquet
train.curve=[1] train.ladder=nobody ¦ line-up 'nobody'
= train {}
champion train.probcut_depth=2 ¦ train.probcut_depth=2
champion 'train.balanced={depht: 3}' ¦ 'depht'
champion 'train.balanced={depth: 2, shallow: 3}' ¦ --shallow=3
champion '+agents.third={_target_: othello_lab.GreedyAgent}' ¦ agents: two
champion agent@first=greedy ¦ no evaluation
champion 'train.patterns={shrikn: 1}' ¦ 'shrikn'
nothing ¦ 'nothing'
= play {}
watch ¦ 'watch'
terminal white=foo ¦ 'foo' ... choose from
terminal white.dpth=3 ¦ 'white.depth'?
terminal white.depth=0 ¦ depth=0 ... 1 to 64
terminal black.depth=3 ¦ black is human
terminal white=random white.evaluation=iago ¦ random ... 'evaluation'
terminal ruleset=mini6 evaluation=iago ¦ evaluation=disc_count
terminal ruleset=go ¦ 'go'
terminal --fast ¦ --fast
terminal --record ¦ --record ... value
terminal --record /nowhere/x ¦ /nowhere/x ... written
terminal series.games=1 series.points=2 ¦ games or points
terminal board=round ¦ 'round'
terminal depth=fast ¦ depth
series black=greedy ¦ games=N ... points=N
replay /nowhere ¦ /nowhere ... read
replay /etc/hostname game=x ¦ game=N
review /nowhere ¦ /nowhere ... read
review twice.txt ¦ move 2 of the transcript
review over.txt ¦ no moves
review game.txt game=2 ¦ one game
review game.txt game=x ¦ game=N
levels games=10 ¦ games
levels --output x.yaml ¦ output
web web.browser=false web.port=0 ¦ web.port=0 ... 1 to 65535
web web.browser=false web.host=a/b ¦ web.host=a/b
web web.browser=false web.colour=red ¦ 'web.colour'
web web.browser=false web.folder=/proc/x ¦ web.folder=/proc/x
nboard agent=nobody ¦ 'nobody'
gtp ¦ agent=NAME
gtp agent=alphabeat ¦ 'alphabeat' ... 'alphabeta'?
gtp agent=alphabeta agent.dpth=3 ¦ 'dpth' ... 'agent.depth'
gtp agent=greedy white=random ¦ white=random ... agent=NAME
gtp agent=gtp agent.command=no-such-engine ¦ 'no-such-engine'
gtp agent=maximizer ruleset=mini6 evaluation=iago ¦ 8x8
wpi agent=greedy ¦ NAME ... agent=greedy
wpi a/b agent=greedy ¦ name=a/b
wpi anna agent=human ¦ agent
wpi anna agent=greedy folder=/nowhere ¦ folder=/nowhere ... no such folder
wpi anna agent=greedy folder=/proc ¦ folder=/proc ... written
wpi anna agent=greedy limit=0 ¦ limit=0 ... more than 0
referee cat ¦ two commands
referee cat no-such-program ¦ 'no-such-program'
referee cat "sh 'x" ¦ quotation
referee cat cat names=../a,b ¦ names=../a,b ... different
referee cat cat names=anna ¦ names=anna ... different
referee cat sort names=anna,anna ¦ names=anna,anna ... different
referee cat cat folder=. ¦ both ... cat ... names=
referee cat sort folder=/nowhere ¦ folder=/nowhere ... no such folder
referee cat sh games=0 ¦ games=0
referee cat sh limit=-1 ¦ limit=-1
referee cat sh gaems=3 ¦ 'gaems'
referee cat sh games ¦ games ... key=value
referee cat sh isolation=shut ¦ auto, process, closed, none
referee cat sh isolation.reads=x ¦ isolation.reads=x ... list
referee cat sh isolation.reads=[/nowhere] ¦ isolation.reads ... /nowhere
referee cat sh isolation=process isolation.network=true ¦ isolation.network
referee cat sh isolation.network=perhaps ¦ isolation.network=perhaps ... true or false
referee cat sh --record /nowhere/x ¦ /nowhere/x ... written
referee cat sh --record / ¦ --record / ... folder
referee "sh -c 'exit 1; a b'" cat ¦ name=WORD
= agents check {}
 ¦ TARGET
alphabeat ¦ 'alphabeat' ... choose ... alphabeta
alphabeta dpth=3 ¦ AlphaBeta ... 'dpth' ... 'depth'
alphabeta depth ¦ 'depth' ... key=value
alphabeta depth=0 ¦ depth ... 0: ... from 1 to 64
alphabeta evaluation=iagoo ¦ 'iagoo'
nowhere.Class ¦ nowhere ... searched
no/such/file.py:Class ¦ no/such/file.py
player.py:Piky favourite=1 ¦ 'Piky' ... 'Picky'
player.py:Picky ¦ Picky ... favourite
misbehaving.NotAnAgent ¦ misbehaving.NotAnAgent ... Agent ... subclass
greedy --patience 0 ¦ --patience ... 0 ... seconds
greedy --config-dir nowhere ¦ --config-dir nowhere
folder=none ¦ folder=none
folder=. protocol=gtp ¦ protocol
folder=. limit=0 ¦ limit
folder=. what=3 ¦ what
= agents check {} --search
greedy ¦ greedy ... evaluation
probcut ¦ probability
alphabeta --depths 0 ¦ 0 ... 1 to 6
alphabeta --depths two ¦ 'two' ... 1,2,3
alphabeta --evaluation iagoo ¦ 'iagoo'
paip.py:weighted_score depth=2 ¦ depth=2 ... function
paip.py:random_strategy --evaluation disc_count ¦ --depths
paip.py:nothing ¦ 'nothing'
= agents check file {}
 ¦ command ... java
no-such-program ¦ 'no-such-program'
"'./an na' -x" ¦ './an na'
"cat 'a b'" ¦ name=WORD
cat limit=0 ¦ limit=0
cat name=a/b ¦ name=a/b ... word
cat limits=3 ¦ limits
cat limit ¦ limit
= agents check-engine {}
gtp no-such-engine ¦ 'no-such-engine'
uci cat ¦ 'uci' ... gtp ... nboard
gtp ¦ COMMAND
gtp cat --patience -1 ¦ seconds
= run agents=duel agent@first={} agent@second=greedy
alphabta ¦ 'alphabta' ... alphabeta
./nowhere.py:Mine ¦ 'Mine': target: ... ./nowhere.py in /
nowhere:Mine ¦ 'nowhere' (searched: / ... )
./mine.py ¦ first=./mine.py:NAME
misbehaving:Raise ¦ 'Raises'
misbehaving:Raises first.dpth=3 ¦ 'Raises': ... 'dpth'
alphabeta agents.greedy.depth=4 ¦ first.depth ... second.depth
alphabeta second.depth=4 ¦ second.depth: greedy ... : none
alphabeta first.dept=4 ¦ first.dept: alphabeta ... depth
line ¦ 'first' ... 'command'
line first.command=no-such-program ¦ 'line' ... 'no-such-program'
line first.command=cat ruleset=mini6 ¦ 'line' ... 8x8
line first.command=cat limits.nodes=10 ¦ limits.nodes=10
nboard first.command=cat depth=2 limits.nodes=10 ¦ limits.nodes=10
wpi first.command=cat openings=random ¦ 'wpi' ... openings=
function first.target=paip.py:maximizer ¦ 'function' ... maximizer' ... evaluate
function first.target=paip.py:random_strategy ruleset=mini6 ¦ 'function' ... 8x8
openspiel first.target=othello_lab.agents.external.openspiel:mcts ¦ OpenSpiel
wpi first.command=cat first.folder=. openings=start executor.workers=2 ¦ 'wpi' ... workers=1
= run agents=duel agent@first=wpi agent@second=wpi openings=start executor=serial {}
first.folder=. second.folder=. first.command=cat second.command=cat ¦ 'wpi_2' ... 'wpi_1' ... cat.in
"""
"""Below each command, its words (DUEL is the line-up of two simple agents), and what the line names
in this order, apart from what stands at the dots."""
DUEL = "agents=duel agent@first=random agent@second=greedy"
FILES = {
    "mine.py": "from othello_lab.agents.evaluation import heuristic\n\n"
    "@heuristic\ndef hollow(mover, opponent):\n    return 1\n",
    "player.py": "from othello_lab import Agent\n\n"
    "class Picky(Agent):\n    def __init__(self, favourite): ...\n\n"
    "class Student(Agent):\n    def __init__(self, depth, evaluation): ...\n",
    "conf/train/two.yaml": "# Two weights\n_target_: trained.TwoWeights\nsteps: 30\nrounds:\n"
    "  first: {agent: alphabeta, depth: 1, evaluation: mobility, games: 100, exact: 0}\n",
    "game.txt": "f5",
    "twice.txt": "f5f5",
    "over.txt": "-" * 27 + "OX------XO" + "-" * 27 + " X",
    "paip.py": (Path(__file__).parent / "agents" / "external" / "paip.py").read_text("utf-8"),
}


def rows() -> list[list[str]]:
    table = []
    for line in REFUSED.strip().splitlines():
        if line.startswith("= "):
            command = line[2:]
        else:
            words, named = line.split("¦")
            table.append([command.replace("{}", words.strip(), 1), named.strip()])
    return table


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("here")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    hand_in(folder / "handed", ["file"])
    return folder


@pytest.mark.usefixtures("scratch")
@pytest.mark.parametrize(("words", "named"), rows())
def test_what_cannot_be_done_is_told_in_one_line(
    words: str,
    named: str,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(here)
    before = sorted(here.rglob("*"))
    refuses(shlex.split(words.replace("DUEL", DUEL)), *named.split(" ... "))
    assert sorted(here.rglob("*")) == before
