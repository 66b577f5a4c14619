// A search as a lecture shows it: values and windows with the signs of MAX and MIN, or each to the player
// who moves, and each step in words.
import { capital } from "./dom.js";
import { endText, moveText, plural, valueText } from "./numbers.js";
import { CUT, ENTER, LEAVE, LOOK } from "./search.js";
import { again, boundText, boundWords } from "./words.js";

const FLIPPED = { "<": ">", ">": "<" };
const negative = (value) => (value === null ? null : -value);

/** The value on a small box. */
export const shortValue = (value) =>
  valueText(value).replace("win by ", "W").replace("loss by ", "L").replaceAll(/,(\d)\d\d(?!\d|,)/g, ".$1k").replace(" ", "");

export class LectureView {
  /** signs: "max" for MAX and MIN, where all values are those to MAX, who moves at the root; "nega"
   * for negamax, where each move has its value to the player who makes it. */
  constructor(search, signs) {
    this.search = search;
    this.max = signs === "max";
    this.windowed = search.answer.name !== "minimax";
  }

  /** Who moves in the positions of a ply. */
  who(ply) {
    if (this.max) return ply % 2 ? "MIN" : "MAX";
    const { to_move: first } = this.search.answer;
    return capital(ply % 2 === 0 ? first : first === "black" ? "white" : "black");
  }

  mover(node) {
    return this.who(this.search.ply[node]);
  }

  maker(node) {
    return this.who(this.search.ply[node] + 1);
  }

  #flips(node) {
    return this.max && this.search.ply[node] > 0 && this.search.ply[node] % 2 === 0;
  }

  value(node) {
    return this.#flips(node) ? -this.search.value[node] : this.search.value[node];
  }

  /** "<" or ">" where the value is only a bound. */
  bound(node) {
    const kind = this.search.kind[node];
    return this.#flips(node) ? FLIPPED[kind] ?? kind : kind;
  }

  boundedText(node, text = shortValue) {
    return (boundText[this.bound(node)] ?? "").trim() + text(this.value(node));
  }

  /** The window of a position after so many steps, and its best value so far. */
  window(node, step) {
    const found = this.search.windowAt(node, step);
    if (!this.max || this.search.ply[node] % 2 === 0) return found;
    const { alpha, beta, best, move } = found;
    return { alpha: negative(beta), beta: negative(alpha), best: negative(best), move };
  }

  /** True if the player who moves in a position wants a low value. */
  wantsLow(node) {
    return this.max && this.search.ply[node] % 2 === 1;
  }

  /** The position that is compared at a step: where a move has come back, the one it was made in. */
  focus(step) {
    if (!step) return 0;
    const [kind, node] = this.search.events[step - 1];
    const back = kind === LEAVE || (kind === ENTER && this.search.isLeaf(node));
    return back ? Math.max(0, this.search.parent[node]) : node;
  }

  /** What came back at a step: {node, value, raised: true if it narrows the window, better}; or null. */
  news(step) {
    if (!step) return null;
    const [kind, node] = this.search.events[step - 1];
    const parent = this.search.parent[node];
    if (parent < 0 || !(kind === LEAVE || this.search.isLeaf(node))) return null;
    const before = this.search.windowAt(parent, step - 1);
    const value = this.search.value[node];
    return {
      node, value: this.value(node),
      better: before.best === null || value > before.best,
      raised: before.alpha === null || value > before.alpha,
      before: this.max && this.search.ply[parent] % 2 ? negative(before.best) : before.best,
    };
  }
}

/** The marks of the code's lines that are lit at a step; see play/web/twin_code.py. */
export function litMarks(view, step) {
  const { search } = view;
  if (!step) return [];
  const [kind, node] = search.events[step - 1];
  if (kind === LOOK) return ["look"];
  if (kind === CUT) return ["cut"];
  if (node === 0) return kind === ENTER ? ["begin"] : ["end"];
  const leaf = search.isLeaf(node);
  if (kind === ENTER && !leaf) return ["enter"];
  const { better, raised } = view.news(step);
  return [...(leaf ? ["leaf"] : []), "compare", ...(better ? ["better", "above"] : []), ...(better && raised ? ["raise"] : [])];
}

/** A step in words. */
export function stepText(view, step) {
  const { search } = view;
  if (!step) return "Before the search. Press → for the first step.";
  const [kind, node] = search.events[step - 1];
  const mover = view.mover(node);
  if (kind === LOOK) {
    const looks = search.looks[node].map(([move, value]) => `${move} ${valueText(view.wantsLow(node) ? -value : value)}`);
    return `To order ${mover}'s moves, the positions after them are evaluated: ${looks.join(", ")}.`;
  }
  if (kind === CUT) return cutText(view, node);
  if (node === 0) {
    if (kind === ENTER) return `The search begins. ${mover}${view.max ? ` (${capital(search.answer.to_move)})` : ""} is to move.`;
    return `The search is done: ${moveText(search.answer.pv[0])}, worth ${valueText(view.value(0))}.`;
  }
  const move = `${view.maker(node)} ${moveText(search.move[node])}`;
  if (kind === ENTER && !search.isLeaf(node)) return `${move} is searched${again(search, node)}${windowText(view, node, step)}.`;
  return `${move} ${returned(view, node)}${compared(view, step)}`;
}

function returned(view, node) {
  const kind = view.search.kind[node];
  if (kind === "e") return `is evaluated: ${valueText(view.value(node))}. `;
  if (kind === "g") return `ends the game: ${valueText(view.value(node))}. `;
  return `is worth ${boundWords[view.bound(node)] ?? ""}${valueText(view.value(node))}. `;
}

/** What a value that came back does to the window. */
function compared(view, step) {
  const { node, better, raised, before } = view.news(step);
  const parent = view.search.parent[node];
  const low = view.wantsLow(parent);
  const end = low ? "β falls" : "α rises";
  if (!better) return `${view.mover(parent)} keeps ${valueText(before)}.`;
  const first = before === null ? "The first value" : `Better than ${valueText(before)}`;
  if (!view.windowed) return `${first} of ${view.mover(parent)}.`.replace(/(Better.*) of /, "$1 for ");
  return raised ? `${first}: ${end} to ${valueText(view.value(node))}.` : `${first}, but outside the window.`;
}

function windowText(view, node, step) {
  if (!view.windowed) return "";
  const { alpha, beta } = view.window(node, step);
  return `, α ${endText(alpha, "−∞")}, β ${endText(beta, "+∞")}`;
}

function cutText(view, node) {
  const { search } = view;
  const { value, beta, moves } = search.cuts[node];
  const sign = view.wantsLow(node) ? -1 : 1;
  const [mover, rival] = [view.mover(node), view.maker(node)];
  const compared = sign > 0 ? `${valueText(value)} ≥ β ${valueText(beta)}` : `${valueText(-value)} ≤ α ${valueText(-beta)}`;
  return `Cut: ${compared}. ${rival} already has a move elsewhere that is as good, and will not let ${mover} come here. `
    + `Not searched: ${plural(moves.length, "move")}, ${moves.join(", ")}.`;
}
