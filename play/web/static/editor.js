// The position editor: discs are put on the board by click, then the game goes on from there.
import { capital, element } from "./dom.js";

const LETTERS = { black: "X", white: "O", empty: "-" };
const NEXT = { "-": "X", X: "O", O: "-" };

/** An editor in an element, working on the board of the game. */
export function createEditor(section, board, { onDone, onPlay }) {
  let rules = null;
  let known = [];
  let squares = [];
  let turn = "black";
  let brush = "cycle";
  const editor = { active: false };

  editor.enter = (ruleset, position, rulesets) => {
    editor.active = true;
    [rules, known, squares, turn] = [ruleset, rulesets, [...position.board], position.to_move];
    section.hidden = false;
    build();
    draw();
    board.focus("a1");
  };

  editor.leave = () => {
    editor.active = false;
    section.hidden = true;
    onDone();
  };

  editor.press = (square) => {
    const index = "abcdefgh".indexOf(square[0]) + rules.side * (Number(square[1]) - 1);
    squares[index] = brush === "cycle" ? NEXT[squares[index]] : LETTERS[brush];
    draw();
  };

  function draw() {
    const board_ = squares.join("");
    board.show({
      side: rules.side, firstRowOnTop: rules.first_row_on_top, board: board_,
      legal: [], last: null, editable: true, toMove: turn,
    });
    section.querySelector("output").textContent = `Black ${count("X")}, white ${count("O")}`;
  }

  const count = (letter) => squares.filter((each) => each === letter).length;

  function change(ruleset) {
    rules = known.find((each) => each.name === ruleset);
    setStart();
  }

  function setStart() {
    const found = known.find((each) => each.name === rules.name);
    squares = [...found.start];
    turn = found.begins;
    build();
    draw();
  }

  function build() {
    section.replaceChildren(
      element("p", {}, "Click squares to put discs there, or take them away."),
      choice("Put", "brush", ["cycle", "black", "white", "empty"], brush, (value) => { brush = value; }),
      choice("To move", "turn", ["black", "white"], turn, (value) => { turn = value; draw(); }),
      element("label", {}, "Rules ", element("select", { onchange: (event) => change(event.target.value) },
        ...known.map((each) => element("option", { value: each.name, selected: each.name === rules.name },
          `${each.name} (${each.side}×${each.side})`)))),
      element("output", { "aria-live": "polite" }),
      element("div", { className: "row" },
        element("button", { onclick: () => { squares.fill("-"); draw(); } }, "Clear"),
        element("button", { onclick: setStart }, "Start position"),
        element("button", { className: "primary", onclick: () => onPlay(`${squares.join("")} ${LETTERS[turn]}`, rules.name) }, "Play from here"),
        element("button", { onclick: editor.leave }, "Cancel")),
    );
  }

  function choice(title, name, values, chosen, does) {
    return element("fieldset", {}, element("legend", {}, title),
      ...values.map((value) => element("label", {},
        element("input", { type: "radio", name, value, checked: value === chosen, onchange: () => does(value) }),
        ` ${capital(value === "cycle" ? "in turn" : value)}`)));
  }

  return editor;
}
