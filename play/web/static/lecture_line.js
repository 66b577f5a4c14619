// Alpha and beta on a line of numbers.
import { svg } from "./dom.js";
import { shortValue } from "./lecture_view.js";
import { windowLabel } from "./lecture_tree.js";
import { discsOf, valueText } from "./numbers.js";

const EDGE = 0.08; // of the width, for what lies beyond the ends

/** Draw the window of a step. view: a LectureView. */
export function drawWindow(container, view, step) {
  const letter = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const [width, height] = [container.clientWidth, Math.max(6.2 * letter, container.clientHeight)];
  const node = view.focus(step);
  const leaf = view.search.isLeaf(node);
  const { alpha, beta, best } = step && !leaf ? view.window(node, step) : { alpha: null, beta: null, best: null };
  const news = view.news(step);
  const [low, high] = rangeOf(view);
  const x = (value) => {
    const share = (value - low) / (high - low);
    return width * (EDGE + (1 - 2 * EDGE) * Math.max(-0.04, Math.min(1.04, share)));
  };
  const line = 3.1 * letter;
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "lecture-window" });
  const label = view.windowed ? windowLabel(alpha, beta) : `best ${best === null ? "none" : valueText(best)}`;
  container.setAttribute("aria-label", `${view.mover(node)} to move: ${label}`);
  const from = alpha === null ? 0 : x(alpha);
  const to = beta === null ? width : x(beta);
  const closed = alpha !== null && beta !== null && alpha >= beta;
  if (view.windowed && step) {
    root.append(svg("rect", { class: closed ? "closed" : "open", x: Math.min(from, to), y: line - 0.9 * letter, width: Math.max(3, Math.abs(to - from)), height: 1.8 * letter }));
  }
  root.append(svg("line", { class: "axis", x1: 0, x2: width, y1: line, y2: line }));
  for (const value of ticks(low, high)) {
    root.append(svg("line", { class: "axis", x1: x(value), x2: x(value), y1: line - 4, y2: line + 4 }),
      svg("text", { class: "tick", x: x(value), y: line + 2.1 * letter }, value ? shortValue(value) : "0"));
  }
  if (view.windowed && step) {
    root.append(...mark("α", alpha, "−∞", 0.02 * width, 1.5 * letter), ...mark("β", beta, "+∞", 0.98 * width, 1.5 * letter));
  }
  if (news) {
    const at = x(news.value);
    root.append(svg("path", { class: news.better ? "news better" : "news", d: `M${at} ${line + 2} l${0.45 * letter} ${0.8 * letter} h${-0.9 * letter} z` }),
      svg("text", { class: "news", x: at, y: line + 3.3 * letter }, shortValue(news.value)));
  }
  if (best !== null) root.append(svg("circle", { class: "best", cx: x(best), cy: line, r: 0.32 * letter }));

  /** An end of the window, with its name on the outer side, so that two that are close can be read. */
  function mark(name, value, open, edge, y) {
    const at = value === null ? edge : x(value);
    const outer = (name === "α") === (from <= to) ? "before" : "after";
    const text = `${name} ${value === null ? open : shortValue(value)}`;
    const room = text.length * 0.75 * letter;
    const place = outer === "before" ? Math.max(room, at - 0.3 * letter) : Math.min(width - room, at + 0.3 * letter);
    return [
      svg("line", { class: `end ${closed ? "closed" : ""}`, x1: at, x2: at, y1: line - 1.1 * letter, y2: line + 0.9 * letter }),
      svg("text", { class: `end ${outer}`, x: place, y }, text),
    ];
  }
  container.replaceChildren(root);
}

/** The least and the highest value of the tree that is no result of a game. */
function rangeOf(view) {
  let [low, high] = [Infinity, -Infinity];
  for (let node = 0; node < view.search.size; node++) {
    const value = view.value(node);
    if (discsOf(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return [-1, 1];
  const room = Math.max(1, 0.08 * (high - low));
  return [low - room, high + room];
}

function ticks(low, high) {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find((each) => (high - low) / each <= 5) ?? 10_000;
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(value);
  return found;
}
