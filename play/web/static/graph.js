// The value over the game, as both players see it: a graph, and its numbers as a table.
import { agentFields, askingForm, stone, table } from "./asking.js";
import { capital, element, svg } from "./dom.js";
import { countText, discsOf, moveText, secondsText, signed, valueText } from "./numbers.js";

const HEIGHT = 220;
const ROOM = { left: 54, right: 12, top: 22, bottom: 26 };
const COLORS = ["black", "white"];

/** Put the graph into an element. page: what mount in why.js is given. */
export function mountGraph(container, page) {
  const drawing = element("div", { className: "why-graph" });
  const numbers = element("div");
  const views = COLORS.map((color) => element("label", {},
    element("input", { type: "radio", name: "why-view", value: color, checked: color === "black", onchange: draw }),
    capital(color)));
  const agent = agentFields(page);
  let course = null; // what an agent says of every position, and for which game

  const asking = askingForm({
    fields: agent.elements,
    button: "Value the whole game",
    async ask(signal, onNote) {
      const game = gameKey(page.state);
      return { game, ...await page.ask("course", { player: agent.value() }, { signal, onNote }) };
    },
    draw(answer) {
      course = answer;
      draw();
    },
  });

  function draw() {
    const state = page.state;
    const view = container.querySelector("[name=why-view]:checked")?.value ?? "black";
    // The values of a game stay right for its beginning when it goes on.
    const known = course && gameKey(state).startsWith(course.game) ? course : null;
    const series = [...COLORS.map((color) => stated(state, color)), asked(known)].filter(Boolean);
    for (const each of series) each.sign = view === "black" ? 1 : -1;
    drawing.replaceChildren(...graph(series, state, page.ply, view, drawing.clientWidth || 600));
    const scrolled = numbers.firstElementChild?.scrollTop ?? 0;
    numbers.replaceChildren(...numbersShown(state, known, view));
    if (scrolled) numbers.firstElementChild.scrollTop = scrolled;
  }

  new ResizeObserver(draw).observe(drawing);
  container.replaceChildren(
    element("p", { className: "why-about" }, "What the players said of their moves: the graph has the values that are discs, the table all of them. ",
      "An agent can value every position of the game too; patterns and disc_count do it in discs."),
    asking.form,
    element("div", { className: "why-switch", role: "radiogroup", "aria-label": "Seen by" },
      element("span", { "aria-hidden": "true" }, "Seen by"), ...views),
    drawing, numbers);
  return {
    take(state) {
      agent.take(state);
      draw();
    },
  };
}

const gameKey = (state) => [state.rules.name, state.start.board, ...state.moves.map(({ move }) => move)].join(" ");

/** A value in discs; null where it is none: per disc is what one counts, null for other units. */
const inDiscs = (value, perDisc) => discsOf(value) || (perDisc === null ? null : value / perDisc);

/** What a player stated of the positions in which it moved: points [ply, discs to Black]. */
function stated(state, color) {
  const { per_disc: perDisc } = state.players[color];
  const values = state.moves.flatMap(({ color: by, decision }, ply) =>
    by === color && decision && decision.value !== null
      ? [[ply, color === "black" ? decision.value : -decision.value]] : []);
  return values.length ? lineOf(`${capital(color)} says`, color, values, perDisc) : null;
}

function asked(course) {
  if (!course) return null;
  const values = course.points.flatMap(({ value }, ply) => (value === null ? [] : [[ply, value]]));
  return lineOf(course.by, "asked", values, course.per_disc);
}

/** values: all that was said; points: what of it is in discs. */
function lineOf(name, kind, values, perDisc) {
  const points = values.map(([ply, value]) => [ply, inDiscs(value, perDisc)]).filter(([, discs]) => discs !== null);
  return { name, kind, values, points };
}

function graph(series, state, ply, view, width) {
  if (!series.length) return [element("p", { className: "why-empty" }, "No agent has stated a value yet.")];
  const plies = Math.max(state.moves.length, 1);
  const drawn = series.filter(({ points }) => points.length > 1);
  const others = series.filter((each) => !drawn.includes(each)).map(({ name }) => name);
  const about = others.length ? [element("p", { className: "why-about" }, `${others.join(", ")}: these values are in the units of a heuristic, `
    + "which are no discs. They stand in the table. The tab Review has the whole game in discs.")] : [];
  if (!drawn.length) return about;
  const whole = state.rules.side ** 2;
  const middle = (HEIGHT - ROOM.top - ROOM.bottom) / 2;
  const x = (at) => ROOM.left + ((width - ROOM.left - ROOM.right) * at) / plies;
  const y = (discs) => ROOM.top + middle * (1 - Math.max(-1, Math.min(1, discs / whole)));
  const root = svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": spoken(series, view) });
  root.append(...axes(whole, x, y, plies, width, view));
  if (ply !== null) root.append(svg("line", { class: "here", x1: x(ply), x2: x(ply), y1: ROOM.top, y2: HEIGHT - ROOM.bottom }));
  for (const { kind, points, sign } of drawn) {
    const places = points.map(([at, discs]) => [x(at), y(sign * discs)]);
    root.append(svg("polyline", { class: `series ${kind}`, points: places.map((place) => place.join(",")).join(" ") }));
    if (kind === "asked" && places.length > 30) continue;
    for (const [cx, cy] of places) root.append(svg("circle", { class: `point ${kind}`, cx, cy, r: 3.2 }));
  }
  const keys = drawn.map(({ name, kind }) => element("li", {},
    svg("svg", { width: 34, height: 14, "aria-hidden": "true" },
      svg("line", { class: `series ${kind}`, x1: 2, x2: 32, y1: 7, y2: 7 }),
      svg("circle", { class: `point ${kind}`, cx: 17, cy: 7, r: 3.2 })), name));
  return [root, element("ul", { className: "why-key" }, ...keys), ...about];
}

function axes(whole, x, y, plies, width, view) {
  const text = (content, at, height, kind = "") => svg("text", { class: kind, x: at, y: height }, content);
  const found = [];
  for (const share of [1, 0.5, 0, -0.5, -1]) {
    const height = y(share * whole);
    found.push(svg("line", { class: share ? "grid" : "zero", x1: ROOM.left, x2: width - ROOM.right, y1: height, y2: height }));
    found.push(text(signed(share * whole), ROOM.left - 6, height + 4, "tick"));
  }
  const rival = view === "black" ? "White" : "Black";
  found.push(text(`${capital(view)} ahead, discs ↑`, ROOM.left, ROOM.top - 8));
  found.push(text(`${rival} ahead ↓`, ROOM.left, HEIGHT - 8));
  const step = [1, 2, 5, 10, 20].find((each) => plies / each <= Math.max(3, width / 90)) ?? 20;
  for (let at = step; at <= plies; at += step) {
    if (x(at) > ROOM.left + 130) found.push(text(String(at), x(at), HEIGHT - 8, "ply"));
  }
  return found;
}

function spoken(series, view) {
  const said = series.map(({ name, values, sign }) => {
    const [first, last] = [values[0], values.at(-1)].map(([, value]) => valueText(sign * value));
    return `${name}: from ${first} to ${last}`;
  });
  return `The value over the game to ${capital(view)}. ${said.join(". ")}. The table below has all numbers.`;
}

function numbersShown(state, course, view) {
  const told = state.moves.some(({ decision }) => decision);
  if (!told && !course) return [];
  const toView = (value, sign) => (value === null || value === undefined ? "" : valueText(sign * value));
  const stated = ({ decision, color }) => toView(decision?.value, color === view ? 1 : -1);
  const asked = (point) => toView(point?.value, view === "black" ? 1 : -1);
  // Nodes and time are those of the moves; where nobody stated any, those of what was asked for.
  const costs = state.moves.map(({ decision }, ply) => (told ? decision : course.points[ply]));
  const cost = (each) => (each ? [countText(each.nodes), secondsText(each.seconds)] : ["", ""]);
  const rows = state.moves.map((move, ply) => [
    [`${ply + 1}. `, stone(move.color), ` ${moveText(move.move)}`],
    ...(told ? [stated(move)] : []),
    ...(course ? [asked(course.points[ply])] : []),
    ...(told ? [move.decision?.depth ?? ""] : []),
    ...cost(costs[ply]),
  ]);
  const sum = (name) => costs.reduce((all, each) => all + (each?.[name] ?? 0), 0);
  const headings = [
    "move", ...(told ? ["stated"] : []), ...(course ? ["asked for"] : []), ...(told ? ["depth"] : []), "nodes", "time"];
  rows.push(["all", ...headings.slice(3).map(() => ""), ...cost({ nodes: sum("nodes"), seconds: sum("seconds") })]);
  return [element("div", { className: "why-scroll", tabIndex: 0, role: "region", "aria-label": "Numbers of the graph" },
    table(`Every search of the game; values to ${capital(view)}, before the move`, headings, rows, "numbers"))];
}
