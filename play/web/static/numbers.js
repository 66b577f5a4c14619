// How values, moves and counts are written.

const MINUS = "−";

/** A value with its sign; final: what one disc counts in a finished game. */
export function valueText(value, final) {
  if (value === null || value === undefined) return "none";
  const discs = Math.abs(value) >= final ? Math.round(value / final) : 0;
  if (discs) return `${discs > 0 ? "win" : "loss"} by ${Math.abs(discs)}`;
  const size = Math.abs(value);
  const digits = Number.isInteger(value) ? 0 : 3;
  const text = size.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${value < 0 ? MINUS : "+"}${text}`;
}

/** The end of a window: infinity where it is open. */
export const endText = (value, final, open) => (value === null ? open : valueText(value, final));

export const moveText = (move) => (move === "--" ? "pass" : move);

export const countText = (count) => count.toLocaleString("en");

export function secondsText(seconds) {
  if (seconds >= 1) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  const thousandths = 1000 * seconds;
  return `${thousandths.toFixed(thousandths < 10 ? 2 : 0)} ms`;
}

export const plural = (count, word) => `${countText(count)} ${word}${count === 1 ? "" : "s"}`;
