// The review of the game: what each move lost in discs, the better moves, and the value as a graph.
import { askingForm, stone } from "./asking.js";
import { capital, element, svg } from "./dom.js";
import { moveText, plural } from "./numbers.js";

const HEIGHT = 240;
const ROOM = { left: 40, right: 12, top: 20, bottom: 26 };
const CHUNK = 4; // moves that are asked for at once; the first ones are many, as they take no time
const LAST = 12;
const STEP = 800; // milliseconds between the moves of a line
const GOOD = 1; // discs; a move that loses less counts as a best one
const COLORS = ["black", "white"];
const SIGNS = { blunder: "??", mistake: "?", inaccuracy: "?!" };

const gameKey = (state) => [state.rules.name, state.start.board, ...state.moves.map(({ move }) => move)].join(" ");

/** Put the review into an element. page: what mount in why.js is given. */
export function mountReview(container, page) {
  const found = new Map(); // by number of the move
  let key = null; // of the game that was reviewed
  let playing = null; // a timer: a line is shown on the board
  const drawing = element("div", { className: "why-graph review-graph" });
  const summary = element("div");
  const list = element("ol", { className: "review-list" });

  const asking = askingForm({
    fields: [],
    button: "Review the game",
    async ask(signal, onNote) {
      const { moves } = page.state;
      key = gameKey(page.state);
      found.clear();
      for (const [first, last] of chunks(moves.length)) {
        onNote(`Reviewing moves ${first} to ${last} of ${moves.length} …`);
        const answer = await page.ask("review", { first, last, ply: moves.length }, { signal });
        for (const each of answer.moves) found.set(each.number, each);
        draw();
      }
    },
    draw,
  });
  const save = element("button", { type: "button", hidden: true, onclick: () => download(commented(page.state, reviews())) }, "Save with comments");
  asking.form.querySelector(".row").append(save);

  const reviews = () => [...found.values()].sort((a, b) => a.number - b.number);
  const fits = () => key !== null && gameKey(page.state).startsWith(key);

  function draw() {
    const known = fits() ? reviews() : [];
    save.hidden = !known.length;
    drawing.hidden = !known.length;
    if (known.length) drawing.replaceChildren(graph(known, page.state, page.ply, drawing.clientWidth || 600));
    summary.replaceChildren(...(known.length ? [accuracy(known, page.state)] : []));
    list.replaceChildren(...known.filter(({ loss }) => loss >= GOOD).map(row));
  }

  function row(each) {
    const { number, move, color, mark, comment, exact } = each;
    return element("li", { className: `review-row ${mark}` },
      element("button", { type: "button", className: "review-move", onclick: () => { stop(); look(number); } },
        `${number}. `, stone(color), ` ${moveText(move)}${SIGNS[mark] ?? ""}`),
      element("span", { className: exact ? "loss exact" : "loss estimate", title: exact ? "exact" : "an estimate" },
        `${exact ? "" : "≈ "}−${Math.round(each.loss)}`),
      element("span", { className: "review-comment" }, comment),
      element("span", { className: "row" },
        element("button", { type: "button", onclick: () => show(each) }, "Show the better line"),
        element("button", { type: "button", onclick: () => playOn(each) }, "Play on from here")));
  }

  /** Show the position after a number of moves, the board in sight. */
  function look(ply) {
    page.look(ply);
    page.board.element.scrollIntoView({ block: "nearest" });
  }

  /** Play the better line on the board, then return to the game. */
  function show({ number, line }) {
    stop();
    look(number - 1);
    let at = 0;
    const next = () => {
      if (at === line.length) return stop();
      const { move, board, to_move: toMove } = line[at];
      page.board.preview({ board, toMove, last: move });
      at += 1;
      playing = setTimeout(next, at === line.length ? 2 * STEP : STEP);
    };
    next();
  }

  function stop() {
    clearTimeout(playing);
    if (playing !== null) page.board.preview(null);
    playing = null;
  }

  function playOn({ number }) {
    stop();
    page.tell({ type: "back", moves: number - 1, ply: page.state.moves.length });
  }

  drawing.addEventListener("pointerdown", (event) => {
    drawing.setPointerCapture(event.pointerId);
    seek(event);
  });
  drawing.addEventListener("pointermove", (event) => {
    if (drawing.hasPointerCapture(event.pointerId)) seek(event);
  });

  function seek(event) {
    const box = drawing.getBoundingClientRect();
    const share = (event.clientX - box.left - ROOM.left) / (box.width - ROOM.left - ROOM.right);
    const plies = page.state.moves.length;
    const ply = Math.max(0, Math.min(plies, Math.round(share * plies)));
    if (ply !== (page.ply ?? plies)) {
      stop();
      page.look(ply);
    }
  }

  drawing.tabIndex = 0;
  drawing.setAttribute("role", "slider");
  drawing.setAttribute("aria-label", "Move of the game");
  drawing.addEventListener("keydown", (event) => {
    const plies = page.state.moves.length;
    const now = page.ply ?? plies;
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: plies }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    stop();
    page.look(Math.max(0, Math.min(plies, to)));
  });

  new ResizeObserver(draw).observe(drawing);
  container.replaceChildren(
    element("p", { className: "why-about" },
      "What each move lost in discs against the best one: exact towards the end, by the solver; before, estimates of the champion. ",
      "Drag in the graph, or use the arrow keys, to move through the game."),
    asking.form, drawing, summary, list);
  return {
    take(state) {
      const now = page.ply ?? state.moves.length;
      drawing.setAttribute("aria-valuemin", 0);
      drawing.setAttribute("aria-valuemax", state.moves.length);
      drawing.setAttribute("aria-valuenow", now);
      drawing.setAttribute("aria-valuetext", valueInWords(found.get(now), now));
      draw();
    },
  };
}

/** Which moves are asked for at once, from the end of the game to its beginning. */
function* chunks(moves) {
  let last = moves;
  let size = LAST;
  while (last > 0) {
    const first = Math.max(1, last - size + 1);
    yield [first, last];
    last = first - 1;
    size = CHUNK;
  }
}

function valueInWords(each, ply) {
  if (!each) return `after move ${ply}`;
  const size = Math.round(Math.abs(each.value));
  const ahead = each.value < 0 ? "White" : "Black";
  return `after move ${ply}: ${size ? `${ahead} by ${plural(size, "disc")}` : "even"}, ${each.exact ? "exact" : "an estimate"}`;
}

/** The value after each move, in discs to Black, on one scale from -64 to 64. */
function graph(known, state, ply, width) {
  const plies = state.moves.length;
  const whole = state.rules.side ** 2;
  const middle = (HEIGHT - ROOM.top - ROOM.bottom) / 2;
  const x = (at) => ROOM.left + ((width - ROOM.left - ROOM.right) * at) / plies;
  const y = (discs) => ROOM.top + middle * (1 - discs / whole);
  const root = svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, "aria-hidden": "true" });
  for (const share of [1, 0.5, 0, -0.5, -1]) {
    const height = y(share * whole);
    root.append(svg("line", { class: share ? "grid" : "zero", x1: ROOM.left, x2: width - ROOM.right, y1: height, y2: height }));
    root.append(svg("text", { class: "tick", x: ROOM.left - 6, y: height + 4 }, String(Math.abs(share * whole))));
  }
  root.append(svg("text", { x: ROOM.left, y: ROOM.top - 7 }, "Black ahead, discs ↑"));
  root.append(svg("text", { x: ROOM.left, y: HEIGHT - 8 }, "White ahead ↓"));
  for (const at of [20, 40, 60]) {
    const place = Math.min(x(at), width - ROOM.right - 22);
    if (at <= plies && place > ROOM.left + 120) root.append(svg("text", { class: "ply", x: place, y: HEIGHT - 8 }, `move ${at}`));
  }
  const at = ply ?? plies;
  root.append(svg("line", { class: "here", x1: x(at), x2: x(at), y1: ROOM.top, y2: HEIGHT - ROOM.bottom }));
  for (const exact of [false, true]) {
    // Where one kind ends and the other begins the line goes on.
    const part = known.filter((each, index) => each.exact === exact || (exact && known[index + 1]?.exact));
    const points = part.map(({ number, value }) => `${x(number)},${y(value)}`).join(" ");
    root.append(svg("polyline", { class: `series ${exact ? "exact" : "estimate"}`, points }));
  }
  for (const { number, value, mark } of known) {
    if (mark) root.append(svg("circle", { class: `point ${mark}`, cx: x(number), cy: y(value), r: mark === "inaccuracy" ? 3.5 : 5 }));
  }
  return root;
}

function accuracy(known, state) {
  const rows = COLORS.map((color) => {
    const own = known.filter((each) => each.color === color && each.choices > 1);
    const good = own.filter(({ loss }) => loss < GOOD).length;
    const lost = own.reduce((sum, { loss }) => sum + loss, 0);
    const marks = (mark) => own.filter((each) => each.mark === mark).length;
    const name = state.over ? state.players[color].played : state.players[color].described;
    return element("tr", {},
      element("th", { scope: "row" }, stone(color), ` ${name}`),
      ...[own.length ? `${Math.round((100 * good) / own.length)} %` : "–", own.length ? (lost / own.length).toFixed(1) : "–",
        marks("inaccuracy"), marks("mistake"), marks("blunder")].map((text) => element("td", {}, String(text))));
  });
  return element("table", { className: "numbers" },
    element("caption", {}, "Accuracy, of the moves with a choice; inaccuracies ?!, mistakes ?, blunders ??"),
    element("thead", {}, element("tr", {}, ...["player", "best moves", "discs lost a move", "?!", "?", "??"].map(
      (text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows));
}

/** The moves with their comments, as a text. */
function commented(state, known) {
  const comments = new Map(known.map((each) => [each.number, each]));
  const lines = ["Othello, moves with comments", ...COLORS.map((color) => `${capital(color)}: ${state.players[color].played}`), ""];
  state.moves.forEach((move, index) => {
    const each = comments.get(index + 1);
    const sign = SIGNS[each?.mark] ?? "";
    const value = each ? `  [Black ${each.value < 0 ? "−" : "+"}${Math.abs(each.value).toFixed(each.exact ? 0 : 1)}, ${each.exact ? "exact" : "estimate"}]` : "";
    lines.push(`${index + 1}. ${capital(move.color)} ${moveText(move.move)}${sign}${value}`);
    if (each?.comment) lines.push(`    ${each.comment}`);
  });
  if (state.over) lines.push("", state.outcome);
  return `${lines.join("\n")}\n`;
}

function download(text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  element("a", { href: address, download: "othello-review.txt" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
