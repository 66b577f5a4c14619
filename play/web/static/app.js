// The page: what the server tells is drawn, what is done here is told to the server.
import { createBoard } from "./board.js";
import { gameDialog, openDialog, shareDialog } from "./dialog.js";
import { byId, calm, capital, element, other, sentence } from "./dom.js";
import { createEditor } from "./editor.js";
import { connect } from "./line.js";
import { lectureAddress } from "./searches.js";
import { discSound, soundIsOn, switchSound } from "./sound.js";
import { mount } from "./why.js";

let state = null; // the game as the server has told it
let catalogue = null;
let at = null; // after how many moves the board is looked at; null: where the game stands
let settled = 0; // how many moves of the game have been shown, with their animation
let slow = null; // a timer: Stop appears if an agent thinks for a while
const listeners = new Set();

const board = createBoard(byId("board"), { onPlay: play });
const line = connect({
  welcome(message) {
    catalogue = message.catalogue;
    byId("offline").hidden = true;
    document.body.classList.toggle("unmarked", !message.marks);
    if (!message.known) say("This game was not kept by the server; here is a new one.");
  },
  state: take,
  lost(refused) {
    const why = refused ? `The server says: ${sentence(refused)}` : "The server does not answer.";
    byId("offline").textContent = `${why} Trying again …`;
    byId("offline").hidden = false;
    document.body.classList.add("lost");
  },
});
const editor = createEditor(byId("editor"), board, { onDone: leaveEditor, onPlay: playEdited });

// ------------------------------------------------------------------ what the server tells

const shownPly = () => at ?? state.moves.length;
const positionAfter = (ply) => (ply ? state.moves[ply - 1].position : state.start);

function take(message) {
  const before = state;
  state = message;
  heard = performance.now();
  document.body.classList.remove("lost");
  const another = !before || !continues(before, state);
  if (another) {
    at = null;
    settled = state.moves.length;
  }
  if (at !== null && at >= state.moves.length) at = null;
  if (before?.moves.length !== state.moves.length || another) clearHint();
  drawAround();
  if (editor.active) return;
  if (another || at !== null) drawBoard(false);
  else catchUp();
  for (const listener of listeners) listener(state);
}

/** Whether one state of the game comes after another. */
function continues(before, after) {
  return before.rules.name === after.rules.name
    && before.start.board === after.start.board
    && before.moves.length <= after.moves.length
    && before.moves.every((move, ply) => move.move === after.moves[ply].move);
}

let catching = false;

/** Show the moves that have not been shown, one after another; if many have come, only the last. */
async function catchUp() {
  if (catching) return;
  catching = true;
  try {
    while (settled < state.moves.length && at === null && !editor.active) {
      const missing = state.moves.length - settled;
      settled = missing > 3 ? state.moves.length : settled + 1;
      const made = state.moves[settled - 1];
      if (!made.forced) discSound(made.flipped.length);
      await board.show(boardView(settled), missing <= 3);
    }
    if (!editor.active) drawBoard(false); // more than moves may have changed meanwhile
  } finally {
    catching = false;
  }
}

function boardView(ply) {
  const position = positionAfter(ply);
  const move = ply ? state.moves[ply - 1] : null;
  const now = ply === state.moves.length;
  return {
    ply,
    side: state.rules.side,
    firstRowOnTop: state.rules.first_row_on_top,
    board: position.board,
    legal: position.legal,
    toMove: position.to_move,
    last: move && !move.forced ? move.move : null,
    flipped: move?.flipped,
    playable: now && at === null && !state.over && state.players[position.to_move].human,
  };
}

function drawBoard(animated) {
  settled = Math.max(settled, state.moves.length);
  board.show(boardView(shownPly()), animated);
}

// ------------------------------------------------------------------ around the board

function drawAround() {
  const position = positionAfter(shownPly());
  for (const color of ["black", "white"]) drawSeat(color, position);
  byId("table").classList.toggle("white-below", state.players.white.human && !state.players.black.human);
  drawStatus();
  drawTrouble();
  drawClocks();
  drawMoves();
  drawControls();
}

function drawSeat(color, position) {
  const player = state.players[color];
  const turn = !state.over && state.position.to_move === color;
  // A game that is over was played by those who made its moves, whoever would play on.
  const name = state.over ? player.played : player.described;
  const [first, ...about] = name.split(" ");
  const seat = byId(`${color}-seat`);
  seat.classList.toggle("turn", turn);
  seat.classList.toggle("won", state.winner === color);
  seat.replaceChildren(
    element("span", { className: `stone ${color}`, "aria-hidden": "true" }),
    element("span", { className: "who" },
      element("b", {}, `${capital(color)}`), ` ${first} `,
      element("small", {}, about.join(" "))),
    state.clock ? element("span", { className: "clock", "data-clock": color }) : "",
    element("span", { className: "count", "aria-label": `${position[color]} discs` }, String(position[color])),
  );
}

let heard = 0; // when the state came, for the clocks

/** The time that people have left, as it runs down. */
function drawClocks() {
  for (const box of document.querySelectorAll("[data-clock]")) {
    const color = box.dataset.clock;
    const { left, running, per } = state.clock;
    const gone = running === color ? (performance.now() - heard) / 1000 : 0;
    const seconds = Math.max(0, Math.ceil(left[color] - gone));
    box.hidden = !state.players[color].human;
    box.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    box.title = `Time left for this ${per}`;
    box.classList.toggle("short", running === color && seconds <= 10);
  }
}
setInterval(() => state?.clock?.running && drawClocks(), 250);

function statusText() {
  if (state.over) return state.outcome;
  const color = state.position.to_move;
  const name = capital(color);
  const player = state.players[color];
  const before = made(state.moves.at(-1));
  if (!state.position.legal.length) return `${before}${name} has no move and must pass.`;
  if (player.human) {
    const both = state.players[other(color)].human;
    return `${before}${both ? `${name} to move.` : `Your turn: ${name} to move.`}`;
  }
  if (state.halted) return `${before}${name} (${player.name}) is to move.`;
  if (state.thinking) return `${before}${name} (${player.name}) is thinking …`;
  return `${before}${name} (${player.name}) to move.`;
}

/** What was played last, for who cannot see it. */
function made(move) {
  if (!move) return "";
  const name = capital(move.color);
  return move.forced ? `${name} had to pass. ` : `${name} played ${move.written}. `;
}

function drawStatus() {
  const text = at === null ? statusText() : lookingText();
  const status = byId("status");
  const note = state.thinking ? state.note : "";
  status.classList.toggle("over", state.over && at === null);
  if (status.textContent !== text) status.textContent = text;
  if (byId("note").textContent !== note) byId("note").textContent = note;
  byId("note").hidden = !note;
  clearTimeout(slow);
  byId("stop").hidden = byId("stop").hidden || !state.thinking;
  if (state.thinking) slow = setTimeout(() => { byId("stop").hidden = false; }, 700);
}

function lookingText() {
  return at ? `After move ${at} of ${state.moves.length}.` : `The start, before move 1 of ${state.moves.length}.`;
}

function drawTrouble() {
  const box = byId("trouble");
  const wanted = state.halted && state.trouble ? state.trouble : "";
  if (box.dataset.text === wanted) return;
  box.dataset.text = wanted;
  box.hidden = !wanted;
  if (!wanted) return box.replaceChildren();
  const color = state.position.to_move;
  const person = { name: "human", settings: {} };
  box.replaceChildren(
    element("p", { role: "alert" }, wanted),
    element("div", { className: "row" },
      element("button", { onclick: () => tell({ type: "go" }) }, "Let it think again"),
      element("button", { onclick: () => choosePlayers() }, "Another agent"),
      element("button", { onclick: () => tell({ type: "players", [color]: person }) },
        `Play ${color} myself`)),
  );
}

let listed = null; // what the list of moves shows

function drawMoves() {
  const list = byId("moves");
  const key = JSON.stringify([state.start, state.moves.map((move) => [move.move, move.decision?.value])]);
  if (key !== listed) {
    listed = key;
    list.replaceChildren(...moveRows());
  }
  const ply = shownPly();
  const opening = state.openings[ply];
  byId("opening").hidden = !opening;
  byId("opening").textContent = opening ? `Opening: ${opening.replace(" Opening", "")}` : "";
  for (const button of list.querySelectorAll("button")) {
    const current = Number(button.dataset.ply) === ply;
    if (current) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    if (current) reveal(list, button);
  }
  drawAboutMove(ply ? state.moves[ply - 1] : null);
}

function reveal(list, button) {
  const [top, bottom] = [button.offsetTop - list.offsetTop, button.offsetTop + button.offsetHeight - list.offsetTop];
  if (top < list.scrollTop) list.scrollTop = top;
  else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
}

function moveRows() {
  const rows = [];
  let row = null;
  state.moves.forEach((move, index) => {
    if (!row || row.children.length === 2) {
      row = element("li", {});
      rows.push(row);
    }
    const value = move.decision && move.decision.value !== null ? move.decision.value_text : "";
    row.append(element("button",
      {
        "data-ply": index + 1,
        "aria-label": `Move ${index + 1}, ${move.color} ${move.forced ? "passes" : move.move}${value ? `, value ${value}` : ""}`,
        onclick: () => look(index + 1),
      },
      element("span", { className: `stone ${move.color}` }),
      element("span", {}, move.forced ? "pass" : move.written),
      element("small", {}, value)));
  });
  return rows;
}

function drawAboutMove(move) {
  const box = byId("about-move");
  const said = move?.decision;
  box.hidden = !said;
  if (!said) return;
  const count = (number) => number.toLocaleString("en");
  const facts = [
    ["by", move.by === state.players[move.color].described ? "" : move.by],
    ["value", said.value === null ? "" : said.value_text], ["depth", said.depth], ["line", said.pv.join(" ")],
    ["game states", said.nodes && count(said.nodes)],
    ["evaluations", said.evaluations && count(said.evaluations)],
    ["cutoffs", said.cutoffs && count(said.cutoffs)], ["playouts", said.playouts && count(said.playouts)],
    ["time", `${said.seconds.toFixed(3)} s`],
  ];
  box.replaceChildren(...facts.filter(([, value]) => value || value === "0").flatMap(
    ([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))]));
}

function drawControls() {
  const total = state.moves.length;
  const ply = shownPly();
  const watched = !state.players.black.human && !state.players.white.human;
  byId("start").hidden = at !== null || (total > 0 && !state.over);
  byId("start").textContent = state.over ? "Click here to start another game" : "Choose players and rules";
  byId("series").hidden = !state.series;
  byId("series").textContent = state.series ? `Series: ${state.series.text}` : "";
  byId("next-game").hidden = at !== null || !state.over || !state.series || state.series.won;
  byId("start").classList.toggle("primary", byId("next-game").hidden);
  byId("sound").setAttribute("aria-pressed", String(soundIsOn()));
  byId("first").disabled = byId("previous").disabled = ply === 0;
  byId("next").disabled = byId("last").disabled = at === null;
  byId("from-here").hidden = at === null;
  byId("undo").disabled = !total;
  byId("hint").disabled = at !== null || state.over || !state.players[state.position.to_move].human || !state.position.legal.length;
  byId("resign").hidden = watched;
  byId("resign").disabled = state.over;
  byId("pace").hidden = !watched;
  byId("play").textContent = state.pace.playing ? "Pause" : "Play";
  byId("play").disabled = byId("step").disabled = state.over;
  if (document.activeElement !== byId("delay")) byId("delay").value = state.pace.delay;
  byId("delay-shown").textContent = Number(byId("delay").value).toFixed(1);
}

// ------------------------------------------------------------------ what is done here

let hushed = null;

/** Say something that is gone after a while. */
function say(text) {
  const box = byId("said");
  box.textContent = text;
  box.classList.add("shown");
  clearTimeout(hushed);
  hushed = setTimeout(() => box.classList.remove("shown"), 5000);
}

const tell = (message) => line.tell(message).catch((error) => say(sentence(error.message)));

let moving = false; // a move is on its way to the server

/** Play on a square of the position that is on the screen, after ply moves. */
function play(square, ply) {
  if (editor.active) editor.press(square);
  else if (!moving && ply === state.moves.length) {
    moving = true;
    tell({ type: "move", move: square, ply }).finally(() => { moving = false; });
  }
}

/** Look at the game after a number of moves. */
function look(ply) {
  if (editor.active) return;
  const before = shownPly();
  clearHint();
  at = ply >= state.moves.length ? null : Math.max(0, ply);
  board.finish();
  drawAround();
  drawBoard(shownPly() === before + 1);
  for (const listener of listeners) listener(state);
}

let hinted = false; // a hint is on the board

/** Ask the agent that gives hints for the best move, and mark it. */
async function hint() {
  const ply = state.moves.length;
  byId("hint").disabled = true;
  try {
    const { by, move, value_text: value, line: moves } = await line.ask("hint", { ply });
    if (state.moves.length !== ply || at !== null) return;
    hinted = true;
    board.annotate({ [move]: { text: "★", kind: "best", label: `hint of ${by}` } });
    say(`Hint of ${by}: ${move}, value ${value}, line ${moves.join(" ")}.`);
  } catch (error) {
    say(sentence(error.message));
  } finally {
    drawControls();
  }
}

function clearHint() {
  if (hinted) board.annotate({});
  hinted = false;
}

let typed = ""; // the column of a move that is being typed

/** A move is typed as its two letters. */
function type(event) {
  const { target, key } = event;
  if (!state || event.altKey || event.ctrlKey || event.metaKey || byId("dialog").open || editor.active) return;
  if (target.closest("input, select, textarea")) return;
  if (/^[a-h]$/i.test(key)) {
    typed = key.toLowerCase();
    return;
  }
  const square = typed + key;
  typed = "";
  if (!/^[a-h][1-8]$/.test(square)) return;
  const view = boardView(shownPly());
  if (!view.playable) say(at === null ? "No person is to move." : "The board shows an earlier position.");
  else if (view.legal.includes(square)) play(square, state.moves.length);
  else say(`${square} is no legal move; the legal moves are ${view.legal.join(", ")}.`);
}

/** The arrow keys go through the moves, where nothing else has a use for them. */
function step(event) {
  const { target, key } = event;
  const free = target === document.body || (target.closest("#game") && !target.matches("input, select, textarea"));
  if (!state || !free || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
  const to = { ArrowLeft: shownPly() - 1, ArrowRight: shownPly() + 1, Home: 0, End: state.moves.length }[key];
  if (to === undefined || editor.active) return;
  event.preventDefault();
  look(to);
}

const dialogParts = () => ({ catalogue, state, tell: line.tell, ask: line.ask, say });
const choosePlayers = () => gameDialog({ ...dialogParts(), title: "Players", kind: "players" });

function leaveEditor() {
  document.body.classList.remove("editing");
  drawAround();
  drawBoard(false);
}

function playEdited(text, rules) {
  gameDialog({ ...dialogParts(), title: "Play from this position", text, rules, onDone: () => editor.leave() });
}

function setPace(changes) {
  tell({ type: "pace", ...state.pace, ...changes });
}

function listen() {
  const on = (id, does, event = "click") => byId(id).addEventListener(event, () => state && does());
  on("new", () => gameDialog({ ...dialogParts(), title: "New game" }));
  on("start", () => gameDialog({ ...dialogParts(), title: "New game" }));
  on("players", choosePlayers);
  on("open", () => openDialog({ ...dialogParts(), choose: (game) => gameDialog({ ...dialogParts(), title: "Go on with this game", ...game }) }));
  on("share", () => shareDialog(dialogParts()));
  on("edit", () => {
    document.body.classList.add("editing");
    editor.enter(state.rules, positionAfter(shownPly()), catalogue.rulesets);
  });
  on("lecture", () => { byId("lecture").href = lectureAddress(state, shownPly()); });
  on("hint", hint);
  on("next-game", () => tell({ type: "next" }));
  on("sound", () => { switchSound(); drawControls(); });
  document.addEventListener("keydown", step);
  document.addEventListener("keydown", type);
  on("undo", () => { at = null; tell({ type: "undo" }); });
  on("resign", () => tell({ type: "resign" }));
  on("stop", () => tell({ type: "stop" }));
  on("first", () => look(0));
  on("previous", () => look(shownPly() - 1));
  on("next", () => look(shownPly() + 1));
  on("last", () => look(state.moves.length));
  on("from-here", () => {
    const moves = at;
    tell({ type: "back", moves, ply: state.moves.length });
  });
  on("play", () => setPace({ playing: !state.pace.playing }));
  on("step", () => { at = null; tell({ type: "step" }); });
  on("delay", () => { byId("delay-shown").textContent = Number(byId("delay").value).toFixed(1); }, "input");
  on("delay", () => setPace({ delay: Number(byId("delay").value) }), "change");
}

listen();
mount(byId("why"), {
  get state() { return state; },
  get catalogue() { return catalogue; },
  get ply() { return at; },
  ask: line.ask,
  tell,
  look,
  board,
  calm,
  onState(listener) {
    listeners.add(listener);
    if (state) listener(state);
    return () => listeners.delete(listener);
  },
});
