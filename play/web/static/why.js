// Why an agent moves as it does: values on the squares, what they are made of, how the value went
// over the game, and the tree of a search.
import { agentFields, askingForm, evaluationNames, field, options, table, usualEvaluation } from "./asking.js";
import { capital, element } from "./dom.js";
import { mountGraph } from "./graph.js";
import { mountReview } from "./review.js";
import { countText, discsOf, learnUnit, moveText, secondsText, signed, valueText } from "./numbers.js";
import { mountTree } from "./tree.js";

const TABS = [
  ["review", "Review", mountReview],
  ["values", "Values", mountValues],
  ["parts", "Parts", mountParts],
  ["graph", "Graph", mountGraph],
  ["tree", "Tree", mountTree],
];

/**
 * Fill the section. page: state, catalogue and ply (after how many moves the board is looked at;
 * null: where the game stands), ask(name, options), board, onState(listener).
 */
export function mount(section, page) {
  const notes = createNotes(page);
  let tabs = null;
  page.onState((state) => {
    if (!tabs) learnUnit(page.catalogue.final);
    tabs ??= createTabs(section, Object.create(page, { notes: { value: notes } }));
    notes.draw();
    tabs.take(state);
  });
}

function createTabs(section, page) {
  const mounted = new Map();
  const panels = TABS.map(([name]) =>
    element("div", { role: "tabpanel", id: `why-${name}`, className: "why-panel", "aria-labelledby": `why-tab-${name}`, hidden: true }));
  const buttons = TABS.map(([name, text], number) => element("button", {
    type: "button", role: "tab", id: `why-tab-${name}`, "aria-controls": `why-${name}`,
    onclick: () => open(number), onkeydown: (event) => walk(event, number),
  }, text));

  function open(number) {
    buttons.forEach((button, each) => {
      button.setAttribute("aria-selected", each === number);
      button.tabIndex = each === number ? 0 : -1;
      panels[each].hidden = each !== number;
    });
    page.notes.show(TABS[number][0]);
    if (!mounted.has(number)) {
      mounted.set(number, TABS[number][2](panels[number], page));
      mounted.get(number).take(page.state);
    }
  }

  function walk(event, number) {
    const last = TABS.length - 1;
    const to = { ArrowRight: number < last ? number + 1 : 0, ArrowLeft: number ? number - 1 : last, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    open(to);
    buttons[to].focus();
  }

  section.replaceChildren(
    element("h2", { className: "why-title" }, "Why?"),
    element("div", { role: "tablist", className: "why-tabs", "aria-label": "Why" }, ...buttons),
    ...panels);
  open(1);
  return { take: (state) => mounted.forEach((panel) => panel.take(state)) };
}

/** The position that is looked at. */
function positionNow(page) {
  const { state, ply } = page;
  const shown = ply ?? state.moves.length;
  return { ply: shown, ...(shown ? state.moves[shown - 1].position : state.start) };
}

/** What is written on the squares of the board: only as long as it shows that position. */
function createNotes(page) {
  const said = {}; // by tab
  let shown = null;
  const key = ({ ply, board, to_move: toMove }) => `${ply} ${board} ${toMove}`;
  let drawn = false;
  function draw() {
    const now = said[shown];
    const fits = now && key(positionNow(page)) === now.key;
    if (fits || drawn) page.board.annotate(fits ? now.notes : {});
    drawn = fits;
  }
  return {
    draw,
    /** Show what this tab has written, and nothing of another one. */
    show(tab) {
      shown = tab;
      draw();
    },
    put(tab, position, notes) {
      said[tab] = { key: key(position), notes };
      draw();
    },
    clear(tab) {
      delete said[tab];
      draw();
    },
  };
}

/** What is written on the squares for the values of moves, the best first. */
function valueNotes(moves) {
  const best = moves[0]?.value;
  return Object.fromEntries(moves.filter(({ value }) => value !== null).map(({ move, value }) => {
    const text = valueText(value);
    return [move, { text: onSquare(value), label: `worth ${text}`, kind: value === best ? "best" : "plain" }];
  }));
}

/** A value in at most five letters. */
function onSquare(value) {
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "+";
  const discs = discsOf(value);
  if (discs) return valueText(value).replace("win by", "W").replace("loss by", "L");
  if (size >= 10_000) return `${sign}${Math.round(size / 1000)}k`;
  if (!Number.isInteger(value)) return `${sign}${size.toFixed(2)}`;
  return `${sign}${size}`;
}

const afterMove = (ply) => (ply ? `after move ${ply}` : "at the start");

// ------------------------------------------------------------------ values of moves

function mountValues(container, page) {
  const agent = agentFields(page);
  const found = element("div");
  const clear = element("button", { type: "button", hidden: true, onclick: () => {
    page.notes.clear("values");
    found.replaceChildren();
    clear.hidden = true;
  } }, "Clear");
  const asking = askingForm({
    fields: agent.elements,
    button: "Value every move",
    ask(signal, onNote) {
      const position = positionNow(page);
      return page.ask("values", { player: agent.value(), ply: position.ply }, { signal, onNote })
        .then((answer) => ({ answer, position }));
    },
    draw({ answer, position }) {
      clear.hidden = false;
      page.notes.put("values", position, valueNotes(answer.moves));
      found.replaceChildren(...valuesShown(answer, position));
    },
  });
  asking.form.querySelector(".row").append(clear);
  container.replaceChildren(
    element("p", { className: "why-about" }, "What an agent thinks of every legal move. The values are written on the squares; ",
      "the best is marked."), asking.form, found);
  return agent;
}

function valuesShown(answer, position) {
  const name = capital(answer.to_move);
  if (!answer.moves.length) return [element("p", {}, `${name} has no move and must pass.`)];
  const rows = answer.moves.map(({ move, value, line, nodes, seconds }) => [
    moveText(move), valueText(value), line.map(moveText).join(" "), countText(nodes), secondsText(seconds)]);
  return [
    table(`${name}'s moves ${afterMove(position.ply)}: ${answer.by}`, ["move", "value", "line", "nodes", "time"], rows, "numbers lines"),
    element("p", { className: "why-about" }, `Values are to ${name}. Each move was searched by itself, as deep as the agent would look from here.`),
  ];
}

// ------------------------------------------------------------------ what an evaluation is made of

function mountParts(container, page) {
  const evaluation = options(element("select"), evaluationNames(page.catalogue), "iago");
  const about = element("p", { className: "why-about" });
  const found = element("div");
  let side = null;
  const explain = () => {
    about.textContent = page.catalogue.evaluations.find(({ name }) => name === evaluation.value).about;
  };
  evaluation.addEventListener("change", explain);
  const asking = askingForm({
    fields: [field("Heuristic", evaluation)],
    button: "Take it apart",
    ask(signal, onNote) {
      const position = positionNow(page);
      return page.ask("parts", { evaluation: evaluation.value, ply: position.ply }, { signal, onNote })
        .then((answer) => ({ answer, position }));
    },
    draw({ answer, position }) {
      page.notes.put("parts", position, valueNotes(answer.moves));
      found.replaceChildren(...partsShown(answer, position));
    },
  });
  container.replaceChildren(
    element("p", { className: "why-about" }, "What a heuristic sees in the position, and in the position after each move, without looking further ahead."),
    asking.form, about, found);
  return {
    take(state) {
      if (state.rules.side !== side) {
        side = state.rules.side;
        evaluation.value = side === 8 ? "iago" : usualEvaluation(side);
      }
      explain();
    },
  };
}

function partsShown(answer, position) {
  const { now, moves } = answer;
  const name = capital(answer.to_move);
  const rival = answer.to_move === "black" ? "White" : "Black";
  const terms = now.parts.map((part) => [part.name, termText(part.value)]);
  const found = [table(`${capital(answer.evaluation)} ${afterMove(position.ply)}, to ${name}`, ["term", "value"],
    [...terms, ["sum", valueText(now.value)]], "numbers sum")];
  if (moves.length) {
    const made = moves.some(({ parts }) => parts.length);
    const rows = moves.map(({ move, value, parts }) => [
      moveText(move), valueText(value),
      ...(made ? [parts.length ? element("ul", {}, ...parts.map((part) =>
        element("li", {}, `${part.name} = ${termText(part.value)}`))) : "the game is over"] : [])]);
    const headings = ["move", "value", ...(made ? [`made of, to ${rival}`] : [])];
    found.push(table("After each move, the best first", headings, rows, "numbers made"));
  }
  found.push(element("p", { className: "why-about" }, `Values are to ${name}; after a move, minus ${rival}'s.`));
  return found;
}

const termText = (value) => signed(Math.round(value * 1000) / 1000);
