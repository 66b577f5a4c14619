// The dialogs: a new game, other players, a game that is put in, a game that is taken along.
import { usualEvaluation } from "./asking.js";
import { byId, capital, element, sentence, svg } from "./dom.js";
import { myGames } from "./line.js";

const COLORS = ["black", "white"];
const SERIES = [["", "a single one"], ["2", "first to 2 wins"], ["3", "first to 3 wins"], ["5", "first to 5 wins"]];
const CLOCKS = [
  ["", "no clock"], ["move 10", "10 s for a move"], ["move 30", "30 s for a move"],
  ["game 180", "3 min for a game"], ["game 300", "5 min for a game"], ["game 900", "15 min for a game"],
];
const OWN = "own agent"; // no agent's name has a blank

function show(title, ...content) {
  const dialog = byId("dialog");
  dialog.replaceChildren(
    element("form", { method: "dialog", className: "head" },
      element("h2", { id: "dialog-title" }, title),
      element("button", { className: "icon", "aria-label": "Close", formNoValidate: true },
        svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: "M5 5l14 14M19 5 5 19" })))),
    ...content);
  if (!dialog.open) dialog.showModal();
  return dialog;
}

// ------------------------------------------------------------------ who plays

/** Ask who plays. kind: "new" for a game that begins, from the position or game in text if there is
 * one, or with the recorded game of a run; "players" for others who play on. onDone is called when
 * that has worked. */
export function gameDialog({ catalogue, state, tell, title, kind = "new", text = "", recorded = null, rules, onDone }) {
  const begins = kind === "new";
  const fresh = begins && !text && !recorded;
  const chosen = rules ?? state.rules.name;
  const rulesField = element("select", { name: "rules", onchange: () => fit() }, ...catalogue.rulesets.map(
    (each) => element("option", { value: each.name, selected: each.name === chosen },
      `${each.name}: ${each.side}×${each.side}, ${capital(each.begins)} begins`)));
  // Who is not changed stays: there may be more to a player than can be chosen here.
  const seats = Object.fromEntries(COLORS.map((color) => [color, seatField(color, catalogue, state.players)]));
  const choice = (list) => element("select", {}, ...list.map(([value, label]) => element("option", { value }, label)));
  const seriesField = choice(SERIES);
  const clockField = choice(CLOCKS);
  const problem = element("p", { className: "problem", role: "alert" });
  const form = element("form", { className: "game", onsubmit: submit },
    fresh ? element("label", { className: "field" }, "Rules", rulesField) : null,
    element("div", { className: "seats" }, ...COLORS.map((color) => seats[color].element)),
    fresh ? element("button", { type: "button", onclick: exchange }, "Exchange colours") : null,
    begins ? element("div", { className: "seats" },
      element("label", { className: "field" }, "Games", seriesField),
      element("label", { className: "field" }, "Clock", clockField)) : null,
    problem,
    element("button", { className: "primary wide" }, begins ? "Start the game" : "Play on"));

  function fit() {
    const side = catalogue.rulesets.find((each) => each.name === rulesField.value).side;
    for (const color of COLORS) seats[color].fit(side);
  }

  function exchange() {
    const [black, white] = COLORS.map((color) => seats[color].value());
    seats.black.set(white);
    seats.white.set(black);
  }

  async function submit(event) {
    event.preventDefault();
    problem.textContent = "";
    const players = Object.fromEntries(COLORS.map((color) => [color, seats[color].changed() ? seats[color].value() : null]));
    const message = begins
      ? { type: "new", rules: rulesField.value, text, recorded, ...players, series: Number(seriesField.value) || null, clock: clockOf(clockField.value) }
      : { type: "players", ...players };
    try {
      await tell(message);
    } catch (error) {
      problem.textContent = sentence(error.message);
      return;
    }
    byId("dialog").close();
    onDone?.();
  }

  show(title, form);
  fit();
}

function clockOf(text) {
  const [per, seconds] = text.split(" ");
  return per ? { per, seconds: Number(seconds) } : null;
}

/** The fields for one player. */
function seatField(color, catalogue, players) {
  const fields = element("div", { className: "settings" });
  const about = element("p", { className: "about" });
  const level = (wanted) => catalogue.levels.find(({ name }) => name === wanted);
  // Those that the command line has put here, from a file.
  const own = [...new Set(COLORS.map((each) => players[each]).filter(
    (each) => !each.human && !level(each.name) && !catalogue.agents.some(({ name }) => name === each.name)).map(({ name }) => name))];
  const choose = element("select", { onchange: () => fill({}) },
    element("option", { value: "human" }, "Human"),
    element("optgroup", { label: "Levels, by Elo" },
      ...catalogue.levels.map(({ name, elo }) => element("option", { value: name }, `${name} · ${elo}`))),
    own.length ? element("optgroup", { label: "In this game" }, ...own.map((name) => element("option", { value: name }, name))) : "",
    element("optgroup", { label: "Agents" },
      ...(catalogue.own_agents ? [element("option", { value: OWN }, "own agent, by its path")] : []),
      ...catalogue.agents.filter(({ name }) => !level(name)).map(({ name }) => element("option", { value: name }, name))));
  let side = 8;

  const listed = () => catalogue.agents.find((agent) => agent.name === choose.value);

  function fill(settings) {
    const agent = listed();
    const person = choose.value === "human";
    about.textContent = (level(choose.value) ?? agent)?.about ?? (person ? "Moves by click, or by keyboard." : "Your own agent, with its settings.");
    if (choose.value === OWN) {
      about.textContent = "A class, a function or a heuristic of a file below the folder in which the server runs.";
      const path = element("input", { type: "text", required: true, placeholder: "mine.py:Student", "data-path": "", autocomplete: "off", spellcheck: false });
      return fields.replaceChildren(element("label", { className: "field" }, "Path", path));
    }
    if (!agent) return fields.replaceChildren();
    const main = agent.settings.filter((each) => each.name === "depth" || each.name === "playouts");
    const rest = agent.settings.filter((each) => !main.includes(each) && each.kind !== "text" || typeof each.default === "string");
    fields.replaceChildren(
      ...main.map((each) => settingField(each, settings[each.name])),
      agent.evaluation ? evaluationField(catalogue, settings.evaluation, side) : "",
      rest.length ? element("details", {}, element("summary", {}, "More settings"),
        ...rest.map((each) => settingField(each, settings[each.name]))) : "");
  }

  const seat = {
    element: element("fieldset", { className: "seat-choice" },
      element("legend", {}, element("span", { className: `stone ${color}`, "aria-hidden": "true" }), capital(color)),
      element("label", { className: "field" }, "Player", choose), about, fields),
    set({ name, settings, path }) {
      choose.value = path ? OWN : name;
      if (path) {
        fill({});
        fields.querySelector("[data-path]").value = path;
        return;
      }
      if (choose.value !== name) choose.value = "human";
      fill(settings);
    },
    value() {
      const path = fields.querySelector("[data-path]")?.value.trim();
      return path ? { name: "own", settings: {}, path } : { name: choose.value, settings: valuesOf(fields) };
    },
    fit(size) {
      const before = seat.value();
      side = size;
      seat.set(before);
    },
  };
  seat.set(players[color]);
  const before = JSON.stringify(seat.value());
  seat.changed = () => JSON.stringify(seat.value()) !== before;
  return seat;
}

function evaluationField(catalogue, chosen, side) {
  const select = element("select", { "data-setting": "evaluation", "data-default": "" },
    ...catalogue.evaluations.map((each) => element("option", { value: each.name, title: each.about }, each.name)));
  select.value = chosen && (side === 8 || chosen !== "square_weights") ? chosen : usualEvaluation(side);
  return element("label", { className: "field" }, "Heuristic", select);
}

function settingField(setting, value) {
  const now = value === undefined ? setting.default : value;
  const title = setting.about;
  const note = { "data-setting": setting.name, "data-kind": setting.kind, title };
  const name = capital(setting.name.replaceAll("_", " "));
  if (setting.kind === "switch") {
    const box = element("input", { type: "checkbox", checked: Boolean(now), ...note });
    return element("label", { className: "field switch", title }, name, box);
  }
  if (setting.kind === "choice") {
    const select = element("select", note, ...setting.choices.map((each) => element("option", { value: each }, each)));
    select.value = now;
    return element("label", { className: "field", title }, name, select);
  }
  const number = setting.kind !== "text";
  const field = element("input", {
    type: number ? "number" : "text", value: now ?? "", ...note,
    ...(number ? { min: setting.low ?? "", max: setting.high ?? "", step: setting.kind === "whole" ? 1 : "any" } : {}),
    placeholder: setting.optional ? "none" : "", required: !setting.optional, autocomplete: "off",
  });
  return element("label", { className: "field", title }, name, field);
}

function valuesOf(fields) {
  const settings = {};
  for (const field of fields.querySelectorAll("[data-setting]")) {
    const { setting, kind } = field.dataset;
    if (kind === "switch") settings[setting] = field.checked;
    else if (kind === "whole" || kind === "number") settings[setting] = field.value === "" ? null : Number(field.value);
    else settings[setting] = field.value;
  }
  return settings;
}

// ------------------------------------------------------------------ games from elsewhere

/** A file's text; or if it is none, such as WTHOR, a letter for each byte. */
async function content(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return bytes.includes(0) ? ["", Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")] : [new TextDecoder().decode(bytes), ""];
}

/** Ask for a game: as text, from a file, or of a run. choose({text, rules}) or choose({recorded}) goes
 * on with it. */
export function openDialog({ catalogue, state, ask, choose }) {
  const rules = element("select", {}, ...catalogue.rulesets.map(
    (each) => element("option", { value: each.name, selected: each.name === state.rules.name }, `${each.name} (${each.side}×${each.side})`)));
  const area = element("textarea", { rows: 5, spellcheck: false, placeholder: "f5d6c3d3c4 … or 1. f5 d6 2. c3 … or a board" });
  const file = element("input", { type: "file", onchange: async () => {
    const [chosen] = file.files;
    problem.textContent = "";
    if (!chosen) return;
    // A letter has at most four bytes.
    if (chosen.size > 4 * catalogue.longest_text) problem.textContent = tooLong(`${chosen.name} has ${chosen.size.toLocaleString("en")} bytes`);
    else [area.value, binary] = await content(chosen);
  } });
  let binary = ""; // the area would change some of it
  const problem = element("p", { className: "problem", role: "alert" });
  const mine = element("div", { className: "mine" });
  const runs = element("div", { className: "runs" }, element("p", {}, "Looking for runs …"));

  const tooLong = (size) => `That is too long for a game: ${size}; at most ${catalogue.longest_text.toLocaleString("en")} letters are read.`;

  async function submit(event) {
    event.preventDefault();
    const text = area.value.trim() ? area.value : binary;
    if (!text) {
      problem.textContent = "Put in a game first.";
      return;
    }
    if (text.length > catalogue.longest_text) {
      problem.textContent = tooLong(`it has ${text.length.toLocaleString("en")} letters`);
      return;
    }
    choose({ text, rules: rules.value });
  }

  async function showMine() {
    try {
      const { games } = await ask("mine", { visits: myGames() });
      const rows = games.map(({ visit, black, white, moves, outcome, seconds }) => element("li", {},
        element("button", { type: "button", onclick: () => { location.hash = `game=${visit}`; byId("dialog").close(); } },
          element("b", {}, `${black} – ${white}`), ` ${outcome.replace("The game is over: ", "") || `${moves} moves so far`} `,
          element("small", {}, new Date(1000 * seconds).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" })))));
      mine.replaceChildren(...(rows.length ? [element("ul", { className: "games" }, ...rows)] : [element("p", {}, "The games of this browser will be listed here.")]));
    } catch (error) {
      mine.replaceChildren(element("p", {}, sentence(error.message)));
    }
  }

  async function showRuns() {
    try {
      const { runs: found } = await ask("runs");
      if (!found.length) runs.replaceChildren(element("p", {}, "There are no runs yet. othello-lab run plays one."));
      else runs.replaceChildren(runField(found));
    } catch (error) {
      runs.replaceChildren(element("p", {}, sentence(error.message)));
    }
  }

  function runField(found) {
    const select = element("select", {}, ...found.map((name) => element("option", { value: name }, name)));
    const games = element("ul", { className: "games" });
    const fill = async () => {
      games.replaceChildren(element("li", {}, "…"));
      try {
        const { games: listed, total } = await ask("games", { run: select.value });
        games.replaceChildren(...listed.map((game) => element("li", {},
          element("button", { type: "button", onclick: () => choose({ recorded: { run: select.value, game: game.game } }) },
            element("b", {}, `${game.game}`), ` ${game.black} – ${game.white} `, element("small", {}, game.result)))));
        if (total > listed.length) games.append(element("li", {}, `… ${total} games in all`));
      } catch (error) {
        games.replaceChildren(element("li", {}, sentence(error.message)));
      }
    };
    select.addEventListener("change", fill);
    fill();
    return element("div", {}, element("label", { className: "field" }, "Run", select), games);
  }

  show("Open a game",
    element("form", { className: "game", onsubmit: submit },
      element("label", { className: "field tall" }, "Transcript, position (OBF), GGF, or a saved game; of several the last", area),
      element("label", { className: "field" }, "From a file", file),
      element("label", { className: "field" }, "Rules", rules),
      problem,
      element("button", { className: "primary wide" }, "Go on")),
    element("h3", {}, "My games"), mine,
    element("h3", {}, "A game of a run"), runs);
  showMine();
  showRuns();
}

/** Show the game in every notation. */
export async function shareDialog({ ask, say }) {
  let texts;
  try {
    texts = await ask("texts");
  } catch (error) {
    say(sentence(error.message));
    return;
  }
  const kinds = [
    ["transcript", "Transcript", 3], ["obf", "Position (OBF)", 2], ["ggf", "GGF", 4],
    ["text", "With boards and values, to read and to hand in", 6],
  ];
  texts.link = location.href;
  kinds.unshift(["link", "Link to this game: it goes on there", 2]);
  show("Share", ...kinds.map(([kind, title, rows]) => {
    const area = element("textarea", { rows, readOnly: true, spellcheck: false, value: texts[kind] });
    const copy = element("button", { type: "button", onclick: async () => {
      area.select();
      try {
        await navigator.clipboard.writeText(area.value);
      } catch {
        document.execCommand("copy");
      }
      copy.textContent = "Copied";
    } }, "Copy");
    return element("div", { className: "shared" }, element("label", { className: "field tall" }, title, area),
      element("div", { className: "row" }, copy,
        kind === "text" ? element("button", { type: "button", onclick: () => save(texts[kind]) }, "Save as a file") : null));
  }));
}

function save(text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  element("a", { href: address, download: "othello.txt" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
