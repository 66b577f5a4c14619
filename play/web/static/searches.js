// The searches and orderings whose trees can be shown, and what they are called.
import { capital } from "./dom.js";

export const SEARCHES = [["alphabeta", "alpha-beta"], ["minimax", "minimax"], ["pvs", "PVS"]];
export const ORDERINGS = [
  ["none", "none: a1 to h8"],
  ["static", "static: by square"],
  ["mobility", "mobility: fewest replies first"],
  ["sorted", "sorted: by heuristic"],
  ["killer", "killer: last cutoffs first"],
  ["history", "history: most cutoffs first"],
  ["killer+static", "killer, then static"],
  ["mobility+static", "mobility, then static"],
  ["sorted+killer", "sorted, then killer"],
];
export const DEEPEST = 12;
// What PVS has besides, but a tree cannot show.
const BARE = { table_mb: null, etc: false, iterative: false };

/** The agent of a search. common: its depth and evaluation. */
export function playerOf(search, ordering, common) {
  const settings = { ...common };
  if (search !== "minimax") settings.ordering = ordering;
  return { name: search, settings: search === "pvs" ? { ...settings, ...BARE } : settings };
}

/** What a search is called beside another one. */
export function nameOf({ answer }, searches) {
  const name = SEARCHES.find(([known]) => known === answer.name)?.[1] ?? answer.name;
  const alike = searches.filter((each) => each.answer.name === answer.name).length > 1;
  const ordered = answer.ordering !== null && (alike || answer.ordering !== "none");
  return ordered ? `${name}, ordering ${answer.ordering}` : name;
}

/** Which share of the larger tree the smaller one has. */
export function shareText(searches, names) {
  const nodes = searches.map(({ answer }) => answer.engine.nodes);
  const [less, more] = nodes[0] <= nodes[1] ? [0, 1] : [1, 0];
  if (nodes[0] === nodes[1]) return "Both searched the same number of nodes.";
  const share = ((100 * nodes[less]) / nodes[more]).toFixed(1);
  return `${capital(names[less])} searched ${share} % of the nodes of ${names[more]}.`;
}

/** The address of a lecture on the position after so many moves of a game. choices: first, second, depth
 * and heuristic as the address has them. */
export function lectureAddress(state, ply, choices = {}) {
  const { board, to_move: mover } = ply ? state.moves[ply - 1].position : state.start;
  return `/lecture#${new URLSearchParams({ rules: state.rules.name, ...choices, position: `${board} ${mover === "black" ? "X" : "O"}` })}`;
}
