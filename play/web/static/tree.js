// The search-tree explorer: the tree of a search, step by step, forwards and backwards.
import { askingForm, evaluationNames, field, options, table, usualEvaluation } from "./asking.js";
import { createBoard } from "./board.js";
import { capital, element, other } from "./dom.js";
import { createTreeView } from "./lines.js";
import { countText, endText, moveText, secondsText, valueText } from "./numbers.js";
import { COUNTS, Search } from "./search.js";
import { DEEPEST, lectureAddress, nameOf, ORDERINGS, playerOf, SEARCHES, shareText } from "./searches.js";
import { boundedValue, boundText, eventText, valueOf, windowed } from "./words.js";

const SPEEDS = [[1, "slow"], [4, "normal"], [20, "fast"], [200, "very fast"]];

/** Put the explorer into an element. page: what mount in why.js is given. */
export function mountTree(container, page) {
  const form = createForm(page, (found) => explorer.show(found));
  const explorer = createExplorer(page);
  container.replaceChildren(
    element("p", { className: "why-about" },
      "Every position that a shallow search looks at, in the order in which it does. ",
      "Two searches of the same position are compared. ",
      element("a", { href: "/lecture", target: "_blank", onclick: (event) => { event.currentTarget.href = form.lecture(); } }, "Show it as a lecture"),
      ", drawn and on the whole screen."),
    form.element, explorer.element, legend());
  return { take: form.take };
}

// ------------------------------------------------------------------ what is searched

function searchFields(name, kind) {
  const search = options(element("select", { onchange: () => fit() }), SEARCHES, kind);
  const ordering = options(element("select"), ORDERINGS);
  const label = field("Ordering", ordering);
  const fit = () => { label.hidden = search.value === "minimax"; };
  fit();
  return {
    element: element("fieldset", { className: "why-search" },
      element("legend", {}, name), field("Search", search), label),
    word: () => (search.value === "minimax" ? search.value : `${search.value}:${ordering.value}`),
    value: (common) => playerOf(search.value, ordering.value, common),
  };
}

function createForm(page, draw) {
  const state = page.state;
  const depth = element("input", { type: "number", min: 1, max: DEEPEST, required: true, value: 3 });
  const evaluation = options(element("select"), evaluationNames(page.catalogue), usualEvaluation(state.rules.side));
  const searches = [searchFields("First search", "alphabeta"), searchFields("Second search", "minimax")];
  let side = state.rules.side;

  async function ask(signal, onNote) {
    const common = { depth: Number(depth.value), evaluation: evaluation.value };
    const ply = page.ply ?? page.state.moves.length;
    const { side, first_row_on_top: firstRowOnTop } = page.state.rules;
    const asked = searches.map((each) =>
      page.ask("tree", { player: each.value(common), ply }, { signal, onNote }));
    const found = await Promise.allSettled(asked);
    const answers = found.filter(({ status }) => status === "fulfilled").map(({ value }) => value);
    const problems = found.filter(({ status }) => status === "rejected").map(({ reason }) => reason.message);
    if (!answers.length) throw new Error(problems[0]);
    return { searches: answers.map((answer) => new Search(answer, side)), problems, ply, side, firstRowOnTop };
  }

  const asking = askingForm({
    fields: [
      element("div", { className: "why-searches" }, ...searches.map((each) => each.element)),
      field("Depth", depth), field("Heuristic", evaluation),
    ],
    button: "Search this position",
    ask,
    draw(found) {
      draw(found);
      asking.problem.textContent = found.problems.map((text) => `No second tree: ${text}.`).join(" ");
    },
  });
  return {
    element: asking.form,
    lecture() {
      const [first, second] = searches.map((each) => each.word());
      return lectureAddress(page.state, page.ply ?? page.state.moves.length, { first, second, depth: depth.value, heuristic: evaluation.value });
    },
    take(now) {
      if (now.rules.side === side) return;
      side = now.rules.side;
      evaluation.value = usualEvaluation(side);
    },
  };
}

function legend() {
  const line = (name, text) => [element("dt", {}, name), element("dd", {}, text)];
  return element("details", { className: "why-legend" },
    element("summary", {}, "What the words mean"),
    element("dl", {},
      ...line("value", "What a move is worth to the player who makes it. What is good for one is bad for the other: the value of a position is the value of its best move, and the move that leads there is worth the same with the other sign."),
      ...line("alpha", "What the player already has elsewhere: a move must be worth more to matter."),
      ...line("beta", "What the opponent already has elsewhere: a move worth beta or more is too good. The opponent will not let the position arise."),
      ...line("cut", "A move was worth beta or more, so the other moves of the position are not looked at."),
      ...line("≤ and ≥", "Only a bound: after a cut, or below alpha, the exact value was not needed."),
      ...line("★", "The chosen line: the best moves of both players."),
      ...line("node, leaf", "Each position that the search enters is a node. A leaf is not looked beyond: it is evaluated, or the game is over."),
      ...line("engine", "The compiled search that plays. The tree is made by its readable twin in plain Python, and both count the same.")),
    element("p", {}, "Keys in the tree: up and down to the next line, right opens, left closes, Enter shows how the search came there."));
}

// ------------------------------------------------------------------ the tree that was found

function createExplorer(page) {
  const view = {
    found: null, shown: 0, step: 0, selected: 0, manual: new Set(), auto: new Set(), timer: null,
  };
  const ui = parts(view);
  const tree = createTreeView(view, { select, toggle, goTo });
  ui.tree.append(tree.element);
  const board = createBoard(ui.board, { onPlay() {} });
  board.element.setAttribute("aria-label", "Board of the tree");
  const search = () => view.found.searches[view.shown];

  function show(found) {
    pause();
    view.found = found;
    ui.root.hidden = false;
    ui.where.textContent = found.ply ? `After move ${found.ply} of the game` : "The start of the game";
    view.shown = view.selected = 0;
    ui.drawSwitch(found.searches, choose);
    choose(0);
  }

  /** Show the other tree, at the same moves if it has them. */
  function choose(number) {
    pause();
    const before = search();
    const line = before.path(Math.min(view.selected, before.size - 1)).slice(1).map((node) => before.move[node]);
    view.shown = number;
    view.manual.clear();
    ui.slider.max = search().steps;
    ui.compare.replaceChildren(...comparison(view.found.searches));
    goTo(search().steps);
    view.selected = search().follow(line);
    view.auto = new Set(search().path(view.selected));
    draw();
  }

  function goTo(step) {
    view.step = Math.max(0, Math.min(search().steps, step));
    view.selected = search().nodeAt(view.step);
    view.auto = new Set(search().path(view.selected));
    draw();
  }

  function select(node) {
    view.selected = node;
    draw();
  }

  function toggle(node) {
    if (view.manual.has(node) || view.auto.has(node)) {
      view.manual.delete(node);
      view.auto.delete(node);
    } else {
      view.manual.add(node);
    }
    draw();
  }

  function draw() {
    const now = search();
    const text = eventText(now, view.step);
    ui.slider.value = view.step;
    ui.slider.setAttribute("aria-valuetext", `Step ${view.step} of ${now.steps}. ${text}`);
    ui.stepText.textContent = `Step ${countText(view.step)} of ${countText(now.steps)}`;
    ui.event.textContent = text;
    ui.counts.replaceChildren(countsTable(now, view.step));
    for (const [name, button] of Object.entries(ui.buttons)) {
      button.disabled = ["start", "back", "cutBack"].includes(name) ? !view.step : view.step === now.steps;
    }
    ui.buttons.cutBack.disabled = now.nextCut(view.step, -1) === null;
    ui.buttons.cutOn.disabled = now.nextCut(view.step, 1) === null;
    drawBoard(now);
    ui.facts.replaceChildren(...facts(now, view.selected, view.step, goTo));
    tree.draw(now);
  }

  function drawBoard(now) {
    const node = view.selected;
    const move = now.move[node];
    board.show({
      side: now.side, firstRowOnTop: view.found.firstRowOnTop, board: now.board(node), legal: [],
      toMove: now.mover(node), last: move === "--" ? null : move, playable: false,
    });
    board.annotate(notes(now, node, view.step));
  }

  function play() {
    if (view.timer !== null) return pause();
    if (view.step === search().steps) goTo(0);
    ui.playing(true);
    const rate = Number(ui.speed.value);
    const pause_ = Math.max(40, 1000 / rate);
    const stride = Math.max(1, Math.round((rate * pause_) / 1000));
    view.timer = setInterval(() => {
      goTo(view.step + stride);
      if (view.step === search().steps) pause();
    }, pause_);
  }

  function pause() {
    clearInterval(view.timer);
    view.timer = null;
    ui.playing(false);
  }

  const by = (change) => () => { pause(); goTo(view.step + change()); };
  ui.buttons.start.addEventListener("click", by(() => -view.step));
  ui.buttons.back.addEventListener("click", by(() => -1));
  ui.buttons.on.addEventListener("click", by(() => 1));
  ui.buttons.end.addEventListener("click", by(() => search().steps - view.step));
  ui.buttons.cutBack.addEventListener("click", by(() => search().nextCut(view.step, -1) - view.step));
  ui.buttons.cutOn.addEventListener("click", by(() => search().nextCut(view.step, 1) - view.step));
  ui.slider.addEventListener("input", () => { pause(); goTo(Number(ui.slider.value)); });
  ui.play.addEventListener("click", play);
  ui.speed.addEventListener("change", () => {
    if (view.timer === null) return;
    pause();
    play();
  });
  return { element: ui.root, show };
}

/** The elements of the explorer that are made once. */
function parts() {
  const icon = (text, label) => element("button", { type: "button", className: "icon", "aria-label": label, title: label }, text);
  const ui = {
    where: element("p", { className: "why-where" }),
    switch: element("div", { className: "why-switch", role: "radiogroup", "aria-label": "Which tree is shown" }),
    compare: element("div", { className: "why-compare" }),
    counts: element("div"),
    board: element("div", { className: "why-board" }),
    facts: element("div", { className: "why-facts" }),
    tree: element("div", { className: "why-tree" }),
    stepText: element("span", { className: "why-step" }),
    event: element("p", { className: "why-event", role: "status" }),
    slider: element("input", { type: "range", min: 0, "aria-label": "Steps of the search" }),
    play: element("button", { type: "button" }, "Play"),
    speed: options(element("select"), SPEEDS, "4"),
    buttons: {
      start: icon("|◀", "To the beginning of the search"),
      cutBack: icon("◀ ✂", "Back to the cut before"),
      back: icon("◀", "One step back"),
      on: icon("▶", "One step on"),
      cutOn: icon("✂ ▶", "On to the next cut"),
      end: icon("▶|", "To the end of the search"),
    },
  };
  ui.speed.value = 4;
  ui.playing = (on) => {
    ui.play.textContent = on ? "Pause" : "Play";
    ui.event.setAttribute("aria-live", on ? "off" : "polite");
  };
  ui.drawSwitch = (searches, choose) => ui.switch.replaceChildren(...searches.map((search, number) =>
    element("label", {},
      element("input", { type: "radio", name: "why-tree", checked: number === 0, onchange: () => choose(number) }),
      nameOf(search, searches))));
  ui.root = element("div", { className: "why-explorer", hidden: true },
    ui.where, ui.switch,
    element("div", { className: "why-tables" }, ui.compare, ui.counts),
    element("div", { className: "why-player", role: "group", "aria-label": "Steps" },
      element("div", { className: "row" }, ...Object.values(ui.buttons), ui.play,
        element("label", { className: "why-speed" }, "Speed ", ui.speed), ui.stepText),
      ui.slider),
    ui.event,
    element("div", { className: "why-columns" },
      element("div", { className: "why-side" }, ui.board, ui.facts), ui.tree));
  return ui;
}

// ------------------------------------------------------------------ numbers

function comparison(searches) {
  const names = searches.map((each) => nameOf(each, searches));
  const row = (name, of) => [name, ...searches.map(({ answer }) => of(answer))];
  const found = [table("The engine's totals", ["search", ...names], [
    ...COUNTS.map((count) => row(count, ({ engine }) => countText(engine[count]))),
    row("value", ({ engine }) => valueText(engine.value)),
    row("best move", ({ pv }) => moveText(pv[0])),
    row("time", ({ engine }) => secondsText(engine.seconds)),
  ], "numbers")];
  if (searches.length > 1) found.push(element("p", { className: "why-share" }, shareText(searches, names)));
  return found;
}

function countsTable(search, step) {
  const { counts, engine } = search.answer;
  const soFar = search.countsAt(step);
  const equal = COUNTS.every((name) => counts[name] === engine[name] && search.countsAt(search.steps)[name] === counts[name]);
  const found = table(equal ? "This tree ✓ equals the engine" : "This tree differs from the engine!",
    ["count", "so far", "whole tree", "engine"],
    COUNTS.map((name) => [name, ...[soFar, counts, engine].map((each) => countText(each[name]))]), "numbers");
  found.dataset.equal = equal;
  return found;
}

// ------------------------------------------------------------------ a node

/** What is known of a node: whose turn it is, and its window at this moment. */
function facts(search, node, step, goTo) {
  const mover = capital(search.mover(node));
  const line = search.path(node).slice(1).map((each) =>
    `${capital(search.maker(each))} ${moveText(search.move[each])}`).join(", ");
  const found = [element("p", {}, element("b", {}, line || "The position itself"))];
  const rows = [];
  if (search.isLeaf(node)) {
    const how = search.kind[node] === "e" ? "Evaluated" : "Game over";
    rows.push([how, `${valueOf(search, node)} to ${capital(search.maker(node))}`]);
  } else {
    const { alpha, beta, best, move } = search.windowAt(node, step);
    rows.push(["to move", mover]);
    if (windowed(search)) {
      rows.push([`alpha: ${mover} has`, endText(alpha, "−∞ (nothing yet)")]);
      rows.push([`beta: ${capital(other(search.mover(node)))} allows`, endText(beta, "∞ (anything yet)")]);
    }
    rows.push(["best so far", best === null ? "none" : `${moveText(move)} ${valueText(best)}`]);
  }
  found.push(element("dl", {}, ...rows.flatMap(([name, value]) =>
    [element("dt", {}, name), element("dd", {}, value)])));
  if (search.isEntered(node, search.steps)) {
    const at = search.entered[node] + 1;
    found.push(element("button", { type: "button", disabled: at === step, onclick: () => goTo(at) },
      "Go to where it was entered"));
  }
  return found;
}

/** What is written on the squares of a node's board: the values of its moves so far. */
function notes(search, node, step) {
  const { best } = search.isLeaf(node) ? { best: null } : search.windowAt(node, step);
  const found = {};
  for (const child of search.below[node]) {
    if (!search.isLeft(child, step) || search.move[child] === "--") continue;
    found[search.move[child]] = {
      text: short(boundedValue(search, child)),
      label: `worth ${boundedValue(search, child)}`,
      kind: search.value[child] === best && !boundText[search.kind[child]] ? "best" : "plain",
    };
  }
  if (search.cut[node] < step) {
    for (const move of search.cuts[node].moves) found[move] = { text: "✂", label: "not looked at", kind: "cut" };
  }
  return found;
}

/** A value that fits on a square. */
const short = (text) => text.replace("win by ", "+").replace("loss by ", "−").replaceAll(/,(\d)\d\d(?!\d|,)/g, ".$1k").replace(" ", "");
