// What a search does, in words.
import { capital } from "./dom.js";
import { endText, moveText, plural, valueText } from "./numbers.js";
import { CUT, ENTER, LOOK } from "./search.js";

export const boundText = { "<": "≤ ", ">": "≥ " };
export const boundWords = { "<": "at most ", ">": "at least " };

export const valueOf = (search, node) => valueText(search.value[node]);
export const boundedValue = (search, node) => (boundText[search.kind[node]] ?? "") + valueOf(search, node);
export const windowed = (search) => search.answer.name !== "minimax";

export function eventText(search, step) {
  if (!step) return "Before the search.";
  const [kind, node] = search.events[step - 1];
  const mover = capital(search.mover(node));
  if (kind === LOOK) {
    const looks = search.looks[node];
    return `To order ${mover}'s moves, the positions after them are evaluated: ${lookText(looks)}.`;
  }
  if (kind === CUT) return cutText(search, node);
  if (node === 0) {
    if (kind === ENTER) return `The search begins. ${mover} is to move.`;
    return `The search is done: ${moveText(search.answer.pv[0])}, worth ${valueOf(search, 0)} to ${mover}.`;
  }
  const maker = capital(search.maker(node));
  const move = `${maker} ${moveText(search.move[node])}`;
  if (search.isLeaf(node)) {
    const how = search.kind[node] === "e" ? "is evaluated" : "ends the game";
    return `${move} ${how}: ${valueOf(search, node)} to ${maker}.`;
  }
  if (kind === ENTER) return `${move} is searched${again(search, node)}${windowText(search, node)}.`;
  return `${move} is worth ${boundWords[search.kind[node]] ?? ""}${valueOf(search, node)} to ${maker}.`;
}

export const lookText = (looks) =>
  looks.map(([move, value]) => `${move} ${valueText(value)}`).join(", ");

const isNull = (search, node) => search.beta[node] !== null && search.beta[node] - search.alpha[node] === 1;

export function again(search, node) {
  const brothers = search.below[search.parent[node]];
  const before = brothers[brothers.indexOf(node) - 1];
  return before !== undefined && search.move[before] === search.move[node] ? " again" : "";
}

export function windowText(search, node) {
  if (!windowed(search)) return "";
  const asks = isNull(search, node) ? ", only to see whether it is better" : "";
  return `, alpha ${endText(search.alpha[node], "−∞")}, beta ${endText(search.beta[node], "∞")}${asks}`;
}

export function cutText(search, node) {
  const { value, beta, moves } = search.cuts[node];
  const mover = capital(search.mover(node));
  const rival = capital(search.maker(node));
  return `Cut: ${valueText(value)} ≥ beta ${valueText(beta)}. ${mover} would do too well here, and `
    + `${rival} need not let it come to this: ${rival} has as good or better elsewhere. ${plural(moves.length, "move")} not looked at: ${moves.join(", ")}.`;
}
