// Predict first: the question about a step before it is shown.
import { moveText, valueText } from "./numbers.js";
import { CUT, ENTER, LEAVE } from "./search.js";

const MOST = 4; // choices of a value
const CHOICES = ["Cut", "Go on"];

/** The question before the step after so many: {text, choices, right}, or null where there is nothing to
 * predict. Asked are the cuts, and the values of positions that were looked beyond. */
export function questionBefore(view, step) {
  const { search } = view;
  if (!step || step >= search.steps) return null;
  const [kind, node] = search.events[step];
  if (kind === CUT) return cutQuestion(view, node, step, 0);
  if (kind === ENTER && isDecision(view, node, step)) return cutQuestion(view, search.parent[node], step, 1);
  if (kind === LEAVE && !(node in search.cuts)) return valueQuestion(view, node);
  return null;
}

/** True if another move of the same position has just come back, and a cut was possible. */
function isDecision(view, node, step) {
  const { search } = view;
  const parent = search.parent[node];
  if (!view.windowed || parent < 0 || search.below[parent][0] === node) return false;
  return view.search.windowAt(parent, step).beta !== null;
}

function cutQuestion(view, node, step, right) {
  const { alpha, beta, best } = view.window(node, step);
  const low = view.wantsLow(node);
  const limit = low ? `α is ${valueText(alpha)}` : `β is ${valueText(beta)}`;
  return { text: `${view.mover(node)} has ${valueText(best)} here, ${limit}. Cut the other moves, or go on?`, choices: CHOICES, right };
}

function valueQuestion(view, node) {
  const { search } = view;
  const right = view.value(node);
  const others = [...new Set(search.below[node].map((child) => view.value(child)))].filter((value) => value !== right);
  if (!others.length) return null;
  const values = [right, ...others.slice(0, MOST - 1)].sort((a, b) => a - b);
  const what = node ? `is ${view.maker(node)}'s ${moveText(search.move[node])} worth` : "is the position worth";
  return { text: `All moves of ${view.mover(node)} are known here. What ${what}?`, choices: values.map(valueText), right: values.indexOf(right) };
}
