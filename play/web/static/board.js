// The board: an SVG grid of squares that can be clicked, or walked through by keyboard.
import { calm, svg } from "./dom.js";

const SQUARE = 100;
const EDGE = 36; // room for the names of columns and rows
const FLIP = 260; // milliseconds that a disc takes to turn
const WAVE = 80; // milliseconds from one distance to the next
const WIDEST = 92; // of a text on a square
const DISCS = { X: "black", O: "white" };

export const squareName = (column, row) => "abcdefgh"[column] + (row + 1);

/**
 * Make a board in an element.
 *
 * onPlay(square, ply) is called for a click on a square that may be played on; ply is that of the
 * position on the screen. While discs turn a click ends that, and plays nothing.
 * show({ply, side, firstRowOnTop, board, legal, last, playable, flipped, editable}) draws a position:
 *   board: the squares a1, b1, ... as X, O or -; legal: names of squares; last: the last move;
 *   playable: whether legal squares can be clicked; editable: whether all can.
 * preview(position) shows another position until preview(null).
 * annotate({square: {text, kind}}) writes on squares; annotate({}) takes it away. A kind is a class:
 *   best, good, bad, plain, cut.
 */
export function createBoard(container, { onPlay }) {
  let shown = null; // what the game shows
  let previewed = null;
  let notes = {};
  let drawn = null; // what is on the screen
  let cells = new Map();
  let focused = null;
  let turning = 0; // animations under way
  const root = svg("svg", { role: "grid", class: "board", "aria-label": "Board" });
  container.replaceChildren(root);

  function build(side, firstRowOnTop) {
    const size = side * SQUARE + 2 * EDGE;
    root.setAttribute("viewBox", `0 0 ${size} ${size}`);
    root.replaceChildren();
    cells = new Map();
    root.append(svg("rect", { class: "frame", width: size, height: size, rx: 14 }));
    const names = svg("g", { "aria-hidden": "true", class: "names" });
    for (let index = 0; index < side; index++) {
      const middle = EDGE + (index + 0.5) * SQUARE;
      const row = firstRowOnTop ? index + 1 : side - index;
      for (const end of [EDGE / 2, size - EDGE / 2]) {
        names.append(svg("text", { x: middle, y: end }, "abcdefgh"[index]));
        names.append(svg("text", { x: end, y: middle }, String(row)));
      }
    }
    root.append(names);
    for (let index = 0; index < side; index++) {
      const row = firstRowOnTop ? index : side - 1 - index;
      const line = svg("g", { role: "row" });
      for (let column = 0; column < side; column++) {
        const cell = makeCell(column, row, EDGE + column * SQUARE, EDGE + index * SQUARE);
        cells.set(cell.name, cell);
        line.append(cell.group);
      }
      root.append(line);
    }
    root.append(dots(side));
    if (!cells.has(focused)) focused = null;
    drawn = null;
  }

  function makeCell(column, row, x, y) {
    const name = squareName(column, row);
    const middle = SQUARE / 2;
    const disc = svg("g", { class: "disc" });
    for (const color of ["black", "white"]) {
      disc.append(
        svg("g", { class: `face ${color}` },
          svg("circle", { class: "rim", cx: middle, cy: middle + 2, r: 41 }),
          svg("circle", { class: "top", cx: middle, cy: middle, r: 40 })),
      );
    }
    const note = svg("text", { class: "note", x: middle, y: middle, lengthAdjust: "spacingAndGlyphs" });
    const group = svg("g",
      { role: "gridcell", class: "cell", transform: `translate(${x} ${y})`, "data-square": name },
      svg("rect", { class: "square", width: SQUARE, height: SQUARE }),
      svg("circle", { class: "hint", cx: middle, cy: middle, r: 13 }),
      disc,
      svg("circle", { class: "last", cx: middle, cy: middle, r: 9 }),
      note,
      svg("rect", { class: "focus", x: 3, y: 3, width: SQUARE - 6, height: SQUARE - 6, rx: 6 }));
    group.addEventListener("click", (event) => press(name, event.detail));
    group.addEventListener("focus", () => setFocus(name));
    return { name, group, note, disc, index: 0, column, row };
  }

  function dots(side) {
    const group = svg("g", { class: "dots", "aria-hidden": "true" });
    if (side !== 8) return group;
    for (const x of [2, 6]) {
      for (const y of [2, 6]) {
        group.append(svg("circle", { cx: EDGE + x * SQUARE, cy: EDGE + y * SQUARE, r: 6 }));
      }
    }
    return group;
  }

  /** clicks: 2 for the second click of a double click, which plays nothing. */
  function press(name, clicks = 1) {
    const view = previewed ?? shown;
    if (turning) finish();
    else if (view.editable || (view.playable && clicks < 2 && view.legal.includes(name))) onPlay(name, view.ply);
  }

  function finish() {
    for (const each of root.getAnimations({ subtree: true })) each.finish();
  }

  function setFocus(name) {
    focused = name;
    for (const cell of cells.values()) cell.group.setAttribute("tabindex", cell.name === name ? 0 : -1);
  }

  function walk(event) {
    const view = previewed ?? shown;
    const cell = cells.get(event.target.dataset?.square);
    if (!cell || event.altKey || event.metaKey) return;
    const last = view.side - 1;
    const down = view.firstRowOnTop ? 1 : -1;
    let { column, row } = cell;
    const toEnds = event.ctrlKey;
    switch (event.key) {
      case "ArrowLeft": column -= 1; break;
      case "ArrowRight": column += 1; break;
      case "ArrowUp": row -= down; break;
      case "ArrowDown": row += down; break;
      case "Home": column = 0; if (toEnds) row = down > 0 ? 0 : last; break;
      case "End": column = last; if (toEnds) row = down > 0 ? last : 0; break;
      case "Enter": case " ": if (!event.repeat) press(cell.name); event.preventDefault(); return;
      default: return;
    }
    event.preventDefault();
    cells.get(squareName(Math.max(0, Math.min(last, column)), Math.max(0, Math.min(last, row)))).group.focus();
  }
  root.addEventListener("keydown", walk);

  function draw(view, animated) {
    if (!drawn || drawn.side !== view.side || drawn.firstRowOnTop !== view.firstRowOnTop) {
      build(view.side, view.firstRowOnTop);
    }
    const before = drawn;
    const legal = new Set(view.legal);
    root.classList.toggle("playable", Boolean(view.playable));
    root.classList.toggle("editable", Boolean(view.editable));
    root.dataset.turn = view.toMove ?? "";
    for (const cell of cells.values()) {
      const letter = view.board[cell.row * view.side + cell.column];
      const color = DISCS[letter];
      const marked = view.playable && legal.has(cell.name);
      cell.group.classList.toggle("black", color === "black");
      cell.group.classList.toggle("white", color === "white");
      cell.group.classList.toggle("legal", Boolean(marked));
      cell.group.classList.toggle("latest", cell.name === view.last);
      label(cell, color, marked, view);
    }
    writeNotes(view);
    setFocus(focused ?? (view.playable && view.legal[0]) ?? "a1");
    drawn = view;
    return animated && before && !calm() ? turn(view) : Promise.resolve();
  }

  async function turn(view) {
    turning += 1;
    root.classList.add("turning");
    try {
      await animate(view);
    } finally {
      turning -= 1;
      root.classList.toggle("turning", turning > 0);
    }
  }

  function label(cell, color, marked, view) {
    const note = view.notes?.[cell.name] ?? notes[cell.name];
    const words = [cell.name, color ?? (marked ? "legal move" : "empty")];
    if (cell.name === view.last) words.push("last move");
    if (note) words.push(note.label ?? note.text);
    cell.group.setAttribute("aria-label", words.join(", "));
  }

  function writeNotes(view) {
    for (const cell of cells.values()) {
      const note = previewed && view !== previewed ? null : notes[cell.name];
      cell.note.textContent = note?.text ?? "";
      cell.note.setAttribute("class", `note ${note?.kind ?? ""}`);
      cell.note.removeAttribute("textLength");
      if (cell.note.getComputedTextLength() > WIDEST) cell.note.setAttribute("textLength", WIDEST);
      cell.group.classList.toggle("noted", Boolean(note));
    }
  }

  /** Turn the discs that a move has flipped, the nearest first. Resolves when all lie still. */
  function animate(view) {
    const placed = cells.get(view.last);
    if (!placed || !view.flipped) return Promise.resolve();
    const moving = [placed.disc.animate(
      [{ transform: "scale(0.4)", opacity: 0 }, { transform: "scale(1)", opacity: 1 }],
      { duration: 140, easing: "ease-out" })];
    for (const name of view.flipped) {
      const cell = cells.get(name);
      const distance = Math.max(Math.abs(cell.column - placed.column), Math.abs(cell.row - placed.row));
      const now = cell.group.classList.contains("black") ? "black" : "white";
      const timing = { duration: FLIP, delay: 60 + distance * WAVE, fill: "backwards", easing: "ease-in-out" };
      for (const face of cell.disc.children) {
        const arrives = face.classList.contains(now);
        const frames = arrives
          ? [{ transform: "scaleX(0)", opacity: 0 }, { transform: "scaleX(0)", opacity: 1, offset: 0.5 }, { transform: "scaleX(1)", opacity: 1 }]
          : [{ transform: "scaleX(1)", opacity: 1 }, { transform: "scaleX(0)", opacity: 1, offset: 0.5 }, { transform: "scaleX(0)", opacity: 0 }];
        moving.push(face.animate(frames, timing));
      }
    }
    return Promise.allSettled(moving.map((each) => each.finished));
  }

  return {
    element: root,
    show(view, animated = false) {
      shown = view;
      return previewed ? Promise.resolve() : draw(view, animated);
    },
    preview(view) {
      previewed = view && { playable: false, ...shapeOf(shown), ...view };
      draw(previewed ?? shown, false);
    },
    annotate(said) {
      notes = said ?? {};
      if (drawn) draw(drawn, false);
    },
    finish,
    focus(square) {
      cells.get(square ?? focused)?.group.focus();
    },
  };
}

function shapeOf(view) {
  return { side: view?.side ?? 8, firstRowOnTop: view?.firstRowOnTop ?? true, legal: [], board: "" };
}
