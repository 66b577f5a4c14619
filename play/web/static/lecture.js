// The lecture: a search on a projector, step by step. All that is shown stands in the address.
import { evaluationNames, options, table } from "./asking.js";
import { createBoard } from "./board.js";
import { byId, element, sentence } from "./dom.js";
import { questionBefore } from "./lecture_ask.js";
import { drawWindow } from "./lecture_line.js";
import { createTreeDrawing } from "./lecture_tree.js";
import { LectureView, litMarks, stepText } from "./lecture_view.js";
import { connect } from "./line.js";
import { countText, learnUnit, plural } from "./numbers.js";
import { COUNTS, Search } from "./search.js";
import { DEEPEST, nameOf, ORDERINGS, playerOf, SEARCHES, shareText } from "./searches.js";

const PLAIN = { rules: "standard", first: "alphabeta:none", second: "", depth: "3", heuristic: "square_weights", step: "0", signs: "max", predict: "" };
const KEYS = [
  ["→ Page down, Space", "one step on"], ["← Page up", "one step back"],
  ["↓ and ↑", "on to the next cut, back to the last"], ["End and Home", "to the end, to the beginning"],
  ["1 to 4", "answer a question"], ["Q", "on to the next question (with Predict)"], ["P", "predict on or off"],
  ["S", "signs: MAX and MIN, or negamax"], ["F", "full screen"], ["B or .", "black screen, and back"],
];

let shown = null; // the settings of the address
let found = null; // {key, searches, side, firstRowOnTop}
let wanted = null; // the key of the search that was asked for last
let catalogue = null;
let asked = null; // the step whose question is shown
const score = { right: 0, all: 0 };
const board = createBoard(byId("board"), { onPlay() {} });
board.element.setAttribute("aria-label", "Board of the step");
let drawings = [];
let fields = null;

const line = connect({
  welcome(message) { catalogue = message.catalogue; learnUnit(catalogue.final); },
  state(state) { if (!fields) begin(state); },
  lost() { say("The server does not answer. Trying again …"); },
}, { addressed: false });

const say = (text) => { if (byId("event").textContent !== text) byId("event").textContent = text; };

// ------------------------------------------------------------------ the address

function readAddress() {
  return { ...PLAIN, ...Object.fromEntries(new URLSearchParams(location.hash.slice(1))) };
}

function writeAddress() {
  const said = Object.entries(shown).filter(([key, value]) => key === "position" || value !== PLAIN[key]);
  const hash = `#${new URLSearchParams(said)}`;
  if (location.hash !== hash) history.replaceState(null, "", hash);
}

const kindOf = (text) => {
  const [search, ordering = "none"] = text.split(":");
  return { search, ordering };
};

function begin(state) {
  const position = `${state.position.board} ${state.position.to_move === "black" ? "X" : "O"}`;
  shown = { ...readAddress() };
  if (!shown.position) Object.assign(shown, { position, rules: state.rules.name });
  if (state.rules.side !== 8 && !location.hash.includes("heuristic")) shown.heuristic = "disc_count";
  fields = settingFields();
  search();
}

window.addEventListener("hashchange", () => {
  shown = { ...shown, ...readAddress() };
  fields.fill();
  search();
});

function change(changes) {
  Object.assign(shown, changes);
  writeAddress();
  search();
}

// ------------------------------------------------------------------ what is searched

function settingFields() {
  const select = (list, label) => element("select", { "aria-label": label, onchange: () => take() }, ...list.map(([value, text]) => element("option", { value }, text)));
  const depth = select(Array.from({ length: DEEPEST }, (_, each) => [String(each + 1), String(each + 1)]), "Depth");
  const heuristic = options(select([], "Heuristic"), evaluationNames(catalogue), shown.heuristic);
  const kinds = [select(SEARCHES, "Search"), select([["", "none"], ...SEARCHES], "Beside it")];
  const orderings = [select(ORDERINGS, "Ordering"), select(ORDERINGS, "Ordering beside it")];
  const label = (text, ...controls) => element("label", {}, text, ...controls);
  byId("settings").replaceChildren(
    label("search ", kinds[0]), orderings[0], label("beside ", kinds[1]), orderings[1], label("depth ", depth), label("by ", heuristic));
  byId("settings").addEventListener("submit", (event) => event.preventDefault());

  function fill() {
    [shown.first, shown.second].forEach((text, number) => {
      const { search: kind, ordering } = kindOf(text);
      kinds[number].value = kind;
      orderings[number].value = ordering;
      orderings[number].hidden = kind === "minimax" || kind === "";
    });
    depth.value = shown.depth;
    heuristic.value = shown.heuristic;
  }

  function take() {
    const [first, second] = kinds.map(({ value }, number) => (value === "minimax" || !value ? value : `${value}:${orderings[number].value}`));
    change({ first, second, depth: depth.value, heuristic: heuristic.value, step: "0" });
    fill();
  }
  fill();
  return { fill };
}

async function search() {
  const { position, rules, first, second, depth, heuristic } = shown;
  const key = JSON.stringify([position, rules, first, second, depth, heuristic]);
  if (found?.key === key) return draw();
  const kinds = [first, second].filter(Boolean).map(kindOf);
  found = null; // no key moves through the search that was
  wanted = key;
  say("Searching …");
  try {
    const answers = await Promise.all(kinds.map((kind) => line.ask("tree", {
      player: playerOf(kind.search, kind.ordering, { depth: Number(depth), evaluation: heuristic }), position, rules,
    })));
    if (wanted !== key) return; // something else has been chosen meanwhile
    const known = catalogue.rulesets.find(({ name }) => name === rules);
    found = {
      key, side: known.side, firstRowOnTop: known.first_row_on_top,
      searches: answers.map((answer) => new Search(answer, known.side)),
    };
    prepare();
    draw();
  } catch (error) {
    if (wanted !== key) return;
    byId("trees").replaceChildren();
    byId("below").replaceChildren();
    say(sentence(error.message));
  }
}

const steps = () => Math.max(...found.searches.map((each) => each.steps));
const stepNow = () => Math.max(0, Math.min(steps(), Number(shown.step) || 0));
const views = () => found.searches.map((each) => new LectureView(each, shown.signs));
const stepOf = (view, step) => Math.min(step, view.search.steps);

// ------------------------------------------------------------------ what is drawn

function prepare() {
  asked = null;
  const names = found.searches.map((each) => nameOf(each, found.searches));
  drawings = names.map((name, number) => createTreeDrawing(name, (node) => goTo(found.searches[number].entered[node] + 1)));
  byId("trees").replaceChildren(...drawings.map(({ element: each }) => each));
  byId("trees").classList.toggle("two", drawings.length > 1);
  const two = drawings.length > 1;
  byId("counts")?.remove();
  byId("below").replaceChildren(...(two ? [] : [element("div", { id: "code", tabIndex: 0, role: "region", "aria-label": "Code of the search" })]));
  byId(two ? "below" : "left").append(element("div", { id: "counts" }));
  byId("slider").max = steps();
}

function draw() {
  if (!found) return;
  const step = stepNow();
  const all = views();
  const [view] = all;
  const told = all.map((one) => stepText(one, stepOf(one, step)));
  say(all.length > 1 ? told.map((text, number) => `${nameOf(found.searches[number], found.searches)}: ${text}`).join("\n") : told[0]);
  byId("signs").textContent = shown.signs === "max" ? "MAX / MIN" : "Negamax";
  byId("predict").setAttribute("aria-pressed", String(Boolean(shown.predict)));
  byId("slider").value = step;
  byId("step").textContent = `${countText(step)} / ${countText(steps())}`;
  drawBoard(view, stepOf(view, step));
  drawWindow(byId("window"), view, stepOf(view, step));
  drawQuestion(view, step);
  drawCode(view, stepOf(view, step));
  drawCounts(all, step);
  drawings.forEach((drawing, number) => drawing.draw(all[number], stepOf(all[number], step)));
  drawButtons(view, step);
  writeAddress();
}

function drawBoard(view, step) {
  const { search: now } = view;
  const node = now.nodeAt(step);
  const move = now.move[node];
  board.show({
    side: now.side, firstRowOnTop: found.firstRowOnTop, board: now.board(node), legal: [],
    toMove: now.mover(node), last: move === "--" ? null : move, playable: false,
  });
}

function drawCode(view, step) {
  const box = byId("code");
  if (!box) return;
  const { lines, marks } = view.search.answer.code;
  const lit = new Set(litMarks(view, step).flatMap((mark) => marks[mark]));
  if (box.children.length !== lines.length || box.dataset.key !== found.key) {
    box.dataset.key = found.key;
    box.replaceChildren(...lines.map((text) => element("code", {}, text)));
  }
  [...box.children].forEach((row, number) => row.classList.toggle("lit", lit.has(number)));
  const last = Math.max(...lit); // what a step ends with is in sight
  if (!lit.size) box.scrollTop = 0;
  else box.scrollTop = box.children[last].offsetTop + 2.5 * box.children[last].offsetHeight - box.clientHeight;
  const first = box.children[Math.min(...lit)];
  if (lit.size && first.offsetTop < box.scrollTop && last - Math.min(...lit) < 6) box.scrollTop = first.offsetTop;
}

function drawCounts(all, step) {
  const names = found.searches.map((one) => nameOf(one, found.searches));
  const row = (name, counts) => [name, ...COUNTS.map((count) => countText(counts[count]))];
  const rows = all.flatMap((view, number) => {
    const name = all.length > 1 ? `${names[number]}, ` : "";
    return [row(`${name}now`, view.search.countsAt(stepOf(view, step))), row(`${name}in all`, view.search.answer.counts)];
  });
  const equal = found.searches.every(({ answer: { counts, engine } }) => COUNTS.every((name) => counts[name] === engine[name]));
  const drawn = table(equal ? "✓ The engine counts the same" : "The engine counts otherwise!", ["", ...COUNTS], rows, "numbers");
  drawn.dataset.equal = equal;
  const done = all.length > 1 && step === steps() ? element("p", { className: "lecture-share" }, shareText(found.searches, names)) : "";
  byId("counts").replaceChildren(drawn, done);
}

function drawButtons(view, step) {
  const { search: now } = view;
  buttons.start.disabled = buttons.back.disabled = !step;
  buttons.on.disabled = buttons.end.disabled = step === steps() && asked === null;
  buttons.cutBack.disabled = now.nextCut(step, -1) === null;
  buttons.cutOn.disabled = now.nextCut(step, 1) === null;
}

// ------------------------------------------------------------------ predict first

function drawQuestion(view, step) {
  const box = byId("question");
  const question = asked === step ? questionBefore(view, step) : null;
  box.hidden = !question;
  if (!question) return;
  box.replaceChildren(
    element("p", {}, element("b", {}, "Predict: "), question.text),
    element("div", { className: "row" }, ...question.choices.map((text, number) =>
      element("button", { type: "button", onclick: () => answer(number) }, `${number + 1}: ${text}`))));
}

function answer(number) {
  const step = stepNow();
  const question = asked === step ? questionBefore(views()[0], step) : null;
  if (!question || number >= question.choices.length) return;
  const right = number === question.right;
  score.all += 1;
  score.right += right;
  goTo(step + 1);
  byId("question").hidden = false;
  byId("question").replaceChildren(element("p", { className: right ? "right" : "wrong" },
    `${right ? "Right" : `No: ${question.choices[question.right]}`}. ${score.right} of ${plural(score.all, "answer")} right.`));
}

// ------------------------------------------------------------------ going through it

function goTo(step) {
  asked = null;
  shown.step = String(Math.max(0, Math.min(steps(), step)));
  draw();
}

/** One step on; with predictions on first the question, then what happens. */
function forward() {
  const step = stepNow();
  if (shown.predict && asked !== step && questionBefore(views()[0], step)) {
    asked = step;
    draw();
  } else {
    goTo(step + 1);
  }
}

function toQuestion() {
  const [view] = views();
  let step = stepNow() + (asked === stepNow() ? 1 : 0);
  while (step < view.search.steps && !questionBefore(view, step)) step += 1;
  shown.predict = "on";
  shown.step = String(step);
  asked = step < view.search.steps ? step : null;
  draw();
}

function toCut(direction) {
  const to = views()[0].search.nextCut(stepNow(), direction);
  if (to !== null) goTo(to);
}

function turnSigns() {
  shown.signs = shown.signs === "max" ? "nega" : "max";
  draw();
}

function turnPredict() {
  shown.predict = shown.predict ? "" : "on";
  asked = null;
  draw();
}

function fullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen?.();
}

function black() {
  byId("black").hidden = !byId("black").hidden;
}

function showKeys() {
  const dialog = byId("dialog");
  dialog.replaceChildren(
    element("form", { method: "dialog", className: "head" }, element("h2", { id: "dialog-title" }, "Keys"), element("button", {}, "Close")),
    element("dl", { className: "lecture-keys" }, ...KEYS.flatMap(([key, does]) => [element("dt", {}, key), element("dd", {}, does)])),
    element("p", {}, "A click on a box of the tree goes to where it was entered. The address has all that is shown: copy it into a slide."));
  dialog.showModal();
}

const DOES = {
  ArrowRight: forward, PageDown: forward, " ": forward,
  ArrowLeft: () => goTo(stepNow() - 1), PageUp: () => goTo(stepNow() - 1), Backspace: () => goTo(stepNow() - 1),
  ArrowDown: () => toCut(1), ArrowUp: () => toCut(-1),
  Home: () => goTo(0), End: () => goTo(steps()),
  q: toQuestion, p: turnPredict, s: turnSigns, f: fullScreen, b: black, ".": black, "?": showKeys,
};

document.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (!found || event.altKey || event.ctrlKey || event.metaKey || byId("dialog").open || target.closest("select, input[type=text]")) return;
  if (key === " " && target.closest("button")) return;
  const digit = "1234".indexOf(key);
  const does = key.length === 1 && digit >= 0 ? () => answer(digit) : DOES[key.length === 1 ? key.toLowerCase() : key];
  if (!does) return;
  event.preventDefault();
  does();
});

const button = (text, label, does) => {
  const made = element("button", { type: "button", className: "icon", "aria-label": label, title: label, onclick: () => found && does() }, text);
  byId("steps").append(made);
  return made;
};
const buttons = {
  start: button("|◀", "To the beginning of the search", () => goTo(0)),
  cutBack: button("◀ ✂", "Back to the cut before", () => toCut(-1)),
  back: button("◀", "One step back", () => goTo(stepNow() - 1)),
  on: button("▶", "One step on", forward),
  cutOn: button("✂ ▶", "On to the next cut", () => toCut(1)),
  end: button("▶|", "To the end of the search", () => goTo(steps())),
};
byId("slider").addEventListener("input", () => found && goTo(Number(byId("slider").value)));
byId("signs").addEventListener("click", () => found && turnSigns());
byId("predict").addEventListener("click", () => found && turnPredict());
byId("full").addEventListener("click", fullScreen);
byId("keys").addEventListener("click", showKeys);
byId("black").addEventListener("click", black);
new ResizeObserver(() => found && draw()).observe(byId("right"));
