// How values, moves and counts are written.

const MINUS = "−";

let unit = Infinity;

/** Take note of what one disc counts in a finished game. */
export function learnUnit(found) {
  unit = found;
}

/** By how many discs a finished game is won or, less than 0, lost; 0 for the value of a heuristic. */
export const discsOf = (value) => (Math.abs(value) >= unit ? Math.round(value / unit) : 0);

/** A value as people read it. */
export function valueText(value) {
  if (value === null || value === undefined) return "none";
  const discs = discsOf(value);
  if (!discs) return signed(value);
  const word = discs > 0 ? "win" : "loss";
  return Math.abs(discs) === 1 ? word : `${word} by ${Math.abs(discs)}`; // no game is won by one disc
}

/** A number with its sign. */
export function signed(value) {
  const digits = Number.isInteger(value) ? 0 : 3;
  const text = Math.abs(value).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${value < 0 ? MINUS : "+"}${text}`;
}

/** The end of a window; open: what an open one is called. */
export const endText = (value, open) => (value === null ? open : valueText(value));

export const moveText = (move) => (move === "--" ? "pass" : move);

export const countText = (count) => count.toLocaleString("en");

export function secondsText(seconds) {
  if (seconds >= 1) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  const thousandths = 1000 * seconds;
  return `${thousandths.toFixed(thousandths < 10 ? 2 : 0)} ms`;
}

export const plural = (count, word) => `${countText(count)} ${word}${count === 1 ? "" : "s"}`;
