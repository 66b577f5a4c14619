// What the parts of "Why" share: whom to ask, and a question under way that can be stopped.
import { capital, element, sentence } from "./dom.js";

/** A label and the field it is for. */
export const field = (text, control) => element("label", { className: "why-field" }, text, control);

export function options(select, list, chosen) {
  select.replaceChildren(...list.map(([value, text]) => element("option", { value }, text)));
  if (list.some(([value]) => value === chosen)) select.value = chosen;
  return select;
}

/** The heuristic that fits a board. */
export const usualEvaluation = (side) => (side === 8 ? "square_weights" : "disc_count");

export const evaluationNames = (catalogue) => catalogue.evaluations.map(({ name }) => [name, name]);

const depthField = (depth, most = 64) =>
  element("input", { type: "number", min: 1, max: most, required: true, value: depth });

/** Choose an agent: one of the game's players as it is set, or any of the list. */
export function agentFields({ catalogue, state }) {
  const select = element("select", { onchange: () => fit() });
  const depth = depthField(catalogue.depth);
  const evaluation = options(element("select"), evaluationNames(catalogue), usualEvaluation(state.rules.side));
  const depthLabel = field("Depth", depth);
  const evaluationLabel = field("Heuristic", evaluation);
  const players = element("optgroup", { label: "Players of this game" });
  select.append(players, element("optgroup", { label: "Agents" },
    ...catalogue.agents.map(({ name }) => element("option", { value: name }, name))));
  let side = state.rules.side;
  let seats = state.players;

  const listed = () => catalogue.agents.find(({ name }) => name === select.value);
  const hasDepth = (agent) => Boolean(agent?.settings.some(({ name }) => name === "depth"));

  function fit() {
    depthLabel.hidden = !hasDepth(listed());
    evaluationLabel.hidden = !listed()?.evaluation;
    // What is hidden must not keep the form from being sent.
    depth.disabled = depthLabel.hidden;
  }

  function take(now) {
    const before = select.value;
    const fresh = !players.dataset.seen;
    seats = now.players;
    players.replaceChildren(...["black", "white"].filter((color) => !seats[color].human).map((color) =>
      element("option", { value: `:${color}` }, `${capital(color)}: ${seats[color].described}`)));
    players.hidden = !players.children.length;
    players.dataset.seen = "yes";
    const first = players.firstElementChild?.value ?? "alphabeta";
    const known = [...select.options].some(({ value }) => value === before);
    select.value = fresh || !known ? first : before;
    if (now.rules.side !== side) {
      side = now.rules.side;
      evaluation.value = usualEvaluation(side);
    }
    fit();
  }
  take(state);

  return {
    elements: [field("Agent", select), depthLabel, evaluationLabel],
    take,
    value() {
      const agent = listed();
      if (!agent) {
        const { name, settings } = seats[select.value.slice(1)];
        return { name, settings };
      }
      const settings = {};
      if (hasDepth(agent)) settings.depth = Number(depth.value);
      if (agent.evaluation) settings.evaluation = evaluation.value;
      return { name: agent.name, settings };
    },
  };
}

/** A form that asks something. ask(signal, onNote) is called when it is sent, and draw(answer) with
 * what comes; a button stops it meanwhile. */
export function askingForm({ fields, button, ask, draw }) {
  const send = element("button", { className: "primary" }, button);
  const stop = element("button", { type: "button", hidden: true }, "Stop");
  const note = element("p", { className: "why-note", role: "status" });
  const problem = element("p", { className: "why-problem", role: "alert" });
  let under = null;
  stop.addEventListener("click", () => under?.abort());

  async function begin(event) {
    event?.preventDefault();
    under?.abort();
    const mine = new AbortController();
    under = mine;
    problem.textContent = "";
    note.textContent = "";
    const slow = setTimeout(() => {
      stop.hidden = false;
      note.textContent ||= "Thinking …";
    }, 300);
    try {
      const answer = await ask(mine.signal, (text) => { note.textContent = text; });
      mine.signal.throwIfAborted(); // the answer was under way when it was stopped
      if (under === mine) draw(answer);
    } catch (error) {
      if (under === mine) problem.textContent = mine.signal.aborted ? "Stopped." : sentence(error.message);
    } finally {
      clearTimeout(slow);
      if (under === mine) {
        under = null;
        stop.hidden = true;
        note.textContent = "";
      }
    }
  }

  const form = element("form", { className: "why-form", onsubmit: begin },
    ...fields, element("div", { className: "row" }, send, stop), note, problem);
  return { form, begin, problem };
}

/** A disc beside a text. */
export const stone = (color) => element("span", { className: `stone ${color}`, role: "img", "aria-label": capital(color) });

/** A table. headings: of the columns; rows: lists of cells, the first being the row's heading. */
export function table(caption, headings, rows, className = "") {
  const cell = (name, content, attributes = {}) => element(name, attributes, ...[content].flat());
  return element("table", { className },
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...headings.map((text) => cell("th", text, { scope: "col" })))),
    element("tbody", {}, ...rows.map(([first, ...rest]) =>
      element("tr", {}, cell("th", first, { scope: "row" }), ...rest.map((text) => cell("td", text))))));
}
