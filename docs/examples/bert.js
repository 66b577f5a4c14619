// A player of the file protocol that moves at random. Run it:
//
//     node bert.js
//
// Its name is that of its file: bert.js reads bert.in and writes bert.out.

const fs = require("fs");
const path = require("path");

const NAME = path.basename(process.argv[1], ".js");
const COLUMNS = "ABCDEFGH";
const STEPS = [-1, 0, 1];
// [row][column] from 0; the lowest row is the first; null is empty, undefined is off the board.
const board = Array.from({ length: 8 }, () => Array(8).fill(null));
const at = (row, column) => board[row]?.[column];
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Wait for NAME.in, read it, and delete it.
async function receive() {
  while (!fs.existsSync(`${NAME}.in`)) await sleep(100);
  const text = fs.readFileSync(`${NAME}.in`, "utf8");
  fs.unlinkSync(`${NAME}.in`);
  return text.replace(/[()]/g, "").trim().toUpperCase().split(/\s+/);
}

// Write NAME.out, so that nobody sees half of it.
function send(text) {
  fs.writeFileSync(`${NAME}.tmp`, `${text}\n`);
  fs.renameSync(`${NAME}.tmp`, `${NAME}.out`);
}

// The discs that turn if this colour plays here.
function flipped(colour, row, column) {
  const all = [];
  if (at(row, column) !== null) return all;
  for (const down of STEPS) {
    for (const across of STEPS) {
      const line = [];
      let [r, c] = [row + down, column + across];
      for (; at(r, c) && at(r, c) !== colour; r += down, c += across) line.push([r, c]);
      if (at(r, c) === colour) all.push(...line);
    }
  }
  return all;
}

function moves(colour) {
  const all = [];
  for (let row = 0; row < 8; row++)
    for (let column = 0; column < 8; column++)
      if (flipped(colour, row, column).length) all.push([row, column]);
  return all;
}

function play(colour, row, column) {
  for (const [r, c] of flipped(colour, row, column)) board[r][c] = colour;
  board[row][column] = colour;
}

async function main() {
  board[3][3] = board[4][4] = "B";
  board[3][4] = board[4][3] = "W";
  const [mine] = await receive();
  for (let turn = "W"; moves("W").length || moves("B").length; turn = turn === "W" ? "B" : "W") {
    if (turn === mine) {
      const choices = moves(mine);
      if (choices.length) {
        const [row, column] = choices[Math.floor(Math.random() * choices.length)];
        play(mine, row, column);
        send(`(${mine} ${COLUMNS[column]} ${row + 1})`);
      } else {
        send(`(${mine} P 1)`);
      }
    } else {
      const [, column, row] = await receive();
      if (column !== "P") play(turn, Number(row) - 1, COLUMNS.indexOf(column));
    }
  }
}

main();
