from .agents.agent import Agent, Decision, Limits, SearchStats
from .agents.evaluation import Composite, DiscCount, Evaluation, Mobility, SquareWeights, heuristic
from .agents.limited import Limited
from .agents.search import MCTS, PVS, AlphaBeta, Minimax, MTDf
from .agents.simple import GreedyAgent, Maximizer, RandomAgent
from .core.game import GameRecord, play_game
from .core.notation import IllegalMove, NotationError
from .core.position import PASS, Position
from .core.rules import RULESETS, Color, Ruleset, ruleset
from .experiments.jobs.result import RunResult
from .experiments.jobs.run import resume, run_match
from .experiments.jobs.two_sides import match

__all__ = [
    "MCTS",
    "PASS",
    "PVS",
    "RULESETS",
    "Agent",
    "AlphaBeta",
    "Color",
    "Composite",
    "Decision",
    "DiscCount",
    "Evaluation",
    "GameRecord",
    "GreedyAgent",
    "IllegalMove",
    "Limited",
    "Limits",
    "MTDf",
    "Maximizer",
    "Minimax",
    "Mobility",
    "NotationError",
    "Position",
    "RandomAgent",
    "Ruleset",
    "RunResult",
    "SearchStats",
    "SquareWeights",
    "heuristic",
    "match",
    "play_game",
    "resume",
    "ruleset",
    "run_match",
]
