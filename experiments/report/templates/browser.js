// Step through the games that the page has with it: both games of a pair side by side.
(async () => {
  const heading = document.querySelector("#step-through-the-games, #step-through-the-game");
  if (!heading) return;
  const { element } = lab;
  const data = JSON.parse(await lab.unpacked("games-data"));
  const { side, firstRowOnTop } = data.rules;
  const SQUARE = 100;
  const EDGE = 44; // room for the names of columns and rows
  const PASS = 64;
  const COLORS = { X: "black", O: "white" };
  const nameOf = (square) => (square === PASS ? "pass" : "abcdefgh"[square % 8] + (Math.floor(square / 8) + 1));
  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

  function svg(name, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  // ------------------------------------------------------------------ what a game was at any ply

  /** The boards before the first ply and after each: discs by square, who moves next, and what was done. */
  function positionsOf(game) {
    const discs = new Map();
    [...game.board].forEach((letter, place) => {
      if (letter !== "-") discs.set(8 * Math.floor(place / side) + (place % side), letter);
    });
    const found = [{ discs: new Map(discs), flipped: [], square: null }];
    let mover = game.turn;
    for (const [square, flipped, value, nodes, depth, time] of game.plies) {
      if (square !== PASS) for (const each of [square, ...flipped]) discs.set(each, mover);
      found.push({ discs: new Map(discs), flipped, square, mover, value, nodes, depth, time });
      mover = mover === "X" ? "O" : "X";
    }
    return found;
  }

  /** How many plies nobody has decided, as they are the opening's. */
  const openingOf = ({ plies }) => Math.max(0, plies.findIndex((ply) => ply.length > 2));

  const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toLocaleString("en", { maximumFractionDigits: 3 });

  function valueText(value) {
    if (value === null || value === undefined) return "";
    if (Math.abs(value) < data.unit) return signed(value);
    const discs = Math.round(value / data.unit);
    return `${discs > 0 ? "win" : "loss"} by ${Math.abs(discs)}`;
  }

  function timeText(micros) {
    if (micros === undefined) return "";
    if (micros < 1) return "< 1 µs";
    if (micros < 1000) return `${micros} µs`;
    return micros < 1e6 ? `${(micros / 1e3).toFixed(1)} ms` : `${(micros / 1e6).toFixed(2)} s`;
  }

  function resultText(game) {
    if (!game.result) return game.detail;
    const winner = { black: "Black wins", white: "White wins", draw: "A draw" }[game.result];
    if (game.reason !== "finished") return `${winner}: ${game.reason}${game.detail ? ` (${game.detail})` : ""}`;
    return game.result === "draw" ? winner : `${winner} by ${Math.abs(game.discs)}`;
  }

  // ------------------------------------------------------------------ a board with its game

  function createTable() {
    const size = side * SQUARE + 2 * EDGE;
    const board = svg("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", class: "game-board" });
    board.append(svg("rect", { class: "frame", width: size, height: size, rx: 16 }));
    const cells = new Map();
    for (let row = 0; row < side; row++) {
      const y = EDGE + (firstRowOnTop ? row : side - 1 - row) * SQUARE;
      for (const x of [EDGE / 2, size - EDGE / 2]) board.append(svg("text", { x, y: y + SQUARE / 2 }, String(row + 1)));
      for (let column = 0; column < side; column++) {
        const x = EDGE + column * SQUARE;
        board.append(svg("rect", { class: "square", x, y, width: SQUARE, height: SQUARE }));
        const disc = svg("circle", { cx: x + SQUARE / 2, cy: y + SQUARE / 2, r: 41 });
        const mark = svg("circle", { cx: x + SQUARE / 2, cy: y + SQUARE / 2, r: 10 });
        board.append(disc, mark);
        cells.set(8 * row + column, { disc, mark });
      }
    }
    for (let column = 0; column < side; column++) {
      const x = EDGE + (column + 0.5) * SQUARE;
      for (const y of [EDGE / 2, size - EDGE / 2]) board.append(svg("text", { x, y }, "abcdefgh"[column]));
    }
    const title = element("h3");
    const result = element("p", { className: "result" });
    const seats = element("p", { className: "seats" });
    const said = element("p", { className: "said", role: "status" });
    const body = element("tbody");
    const head = element("tr", {}, ...["ply", "move", "value", "nodes", "depth", "time"].map((text) => element("th", { textContent: text, scope: "col" })));
    const table = element("table", { className: "plies" }, element("thead", {}, head), body);
    const list = element("div", { className: "scroll", tabIndex: 0, role: "region" }, table);
    const article = element("article", {}, title, seats, board, said, result, list);
    let positions = [];
    let game = null;
    let opened = 0; // plies of the opening

    function showSeats(discs) {
      const letters = [...discs.values()];
      seats.replaceChildren(...Object.entries(COLORS).map(([letter, color]) => element("span", { className: "seat" },
        element("span", { className: `stone ${color}`, role: "img", "aria-label": color }),
        element("b", { textContent: data.agents[game[color]] }),
        ` ${letters.filter((each) => each === letter).length}`)));
    }

    function show(ply) {
      const at = Math.min(ply, positions.length - 1);
      const { discs, flipped, square, mover, value, nodes, depth, time } = positions[at];
      for (const [place, { disc, mark }] of cells) {
        disc.setAttribute("class", `disc ${COLORS[discs.get(place)] ?? ""}`);
        mark.setAttribute("class", `mark ${place === square ? "last" : flipped.includes(place) ? "flipped" : ""}`);
      }
      showSeats(discs);
      const who = mover && data.agents[game[COLORS[mover]]];
      const facts = [`${at}. ${mover && COLORS[mover] === "black" ? "Black" : "White"}, ${who}: ${nameOf(square)}`];
      if (flipped.length) facts.push(`turns ${count(flipped.length, "disc")}`);
      if (value === undefined && square !== PASS) facts.push(at <= opened ? "from the opening" : "no decision on record");
      if (valueText(value)) facts.push(`value ${valueText(value)}`);
      if (nodes) facts.push(count(nodes, "node"));
      if (depth) facts.push(`depth ${depth}`);
      if (nodes !== undefined) facts.push(timeText(time));
      said.textContent = mover ? facts.join(", ") : "Where the game begins";
      const blacks = [...discs.values()].filter((each) => each === "X").length;
      board.setAttribute("aria-label", `Game ${game.number} after ${count(at, "move")}: ${blacks} black, ${discs.size - blacks} white discs${square === null ? "" : `, last ${nameOf(square)}`}`);
      for (const row of body.rows) row.toggleAttribute("aria-current", Number(row.dataset.ply) === at);
      const current = body.rows[at - 1];
      list.scrollTop = current ? current.offsetTop - list.clientHeight / 2 : 0;
    }

    function take(next, go) {
      game = next;
      positions = positionsOf(game);
      opened = openingOf(game);
      title.textContent = `Game ${game.number}`;
      result.textContent = resultText(game);
      list.setAttribute("aria-label", `Moves of game ${game.number}`);
      body.replaceChildren(...positions.slice(1).map(({ mover, square, value, nodes, depth, time }, place) => {
        const button = element("button", { type: "button", onclick: () => go(place + 1) },
          element("span", { className: `stone ${COLORS[mover]}` }), nameOf(square));
        const cells = [String(place + 1), button, valueText(value), nodes ? nodes.toLocaleString("en") : "", depth ?? "", timeText(time)];
        return element("tr", { "data-ply": place + 1 }, ...cells.map((cell) => element("td", {}, cell)));
      }));
      return positions.length - 1;
    }
    return { article, show, take };
  }

  // ------------------------------------------------------------------ choosing and stepping

  const tables = [createTable(), createTable()];
  const pairing = element("select", { onchange: () => choosePairing() });
  const pair = element("select", { onchange: () => choosePair() });
  const slider = element("input", { type: "range", min: 0, value: 0, "aria-label": "Move", oninput: () => go(Number(slider.value)) });
  const where = element("output", { className: "where" });
  const step = (text, label, to) => element("button", { type: "button", textContent: text, title: label, "aria-label": label, onclick: () => go(to()) });
  const boards = element("div", { className: "boards" });
  const section = element("section", { className: "browser", "aria-label": "Games", onkeydown: onKey },
    ...(data.pairings.length > 1 || data.pairings[0].pairs.length > 1
      ? [element("div", { className: "choice" },
        element("label", {}, "Pairing ", pairing), element("label", {}, "Pair ", pair))] : []),
    element("div", { className: "steps" },
      step("|◀", "To the start", () => 0), step("◀", "Back", () => ply - 1),
      slider, step("▶", "On", () => ply + 1), step("▶|", "To the end", () => last), where),
    boards,
    element("p", { className: "hint", textContent: "Arrow keys step, Home and End lead to the ends. The red dot is the last move, small dots are the discs that it turned. A value is the mover's own, in the units of its evaluation." }));
  const commands = [...document.querySelectorAll("pre code")].filter(({ textContent }) => /^othello-lab play (replay|review) /.test(textContent));
  let ply = 0;
  let last = 0;

  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const across = ["ArrowLeft", "ArrowRight"].includes(event.key); // up and down choose in a list
    if (event.target.matches("select") && !across) return;
    if (event.target === document.body && !(across && inView())) return;
    const to = { ArrowRight: ply + 1, ArrowLeft: ply - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  }

  function inView() {
    const { top, bottom } = boards.getBoundingClientRect();
    return top < innerHeight && bottom > 0;
  }

  function go(to) {
    ply = Math.max(0, Math.min(last, to));
    slider.value = ply;
    where.textContent = `${ply} of ${last}`;
    for (const table of tables) if (table.article.isConnected) table.show(ply);
  }

  function choosePair() {
    const games = data.pairings[pairing.selectedIndex].pairs[pair.selectedIndex];
    const used = tables.slice(0, games.length);
    boards.replaceChildren(...used.map(({ article }) => article));
    last = Math.max(...used.map((table, place) => table.take(games[place], go)));
    slider.max = last;
    for (const command of commands) command.textContent = command.textContent.replace(/game=\d+/, `game=${games[0].number}`);
    go(Math.max(...games.map(openingOf)));
  }

  function points(games, agent) {
    return games.reduce((sum, game) => sum + (game.result === "draw" ? 0.5 : Number(game[game.result] === agent)), 0);
  }

  function choosePairing() {
    const { agents, pairs } = data.pairings[pairing.selectedIndex];
    pair.replaceChildren(...pairs.map((games, place) => {
      const own = points(games, agents[0]);
      const score = `${own} : ${games.length - own}`.replace(/0\.5/g, "½").replace(/1\.5/g, "1½");
      return element("option", { textContent: `${place + 1}. ${score}` });
    }));
    choosePair();
  }

  pairing.append(...data.pairings.map(({ agents }) => element("option", { textContent: agents.map((agent) => data.agents[agent]).join(" – ") })));
  heading.nextElementSibling.after(section);
  document.body.addEventListener("keydown", (event) => {
    if (event.target === document.body) onKey(event); // nothing has the focus
  });
  choosePairing();
})();
