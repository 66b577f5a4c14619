// A bot of the line protocol that moves at random. Run it:
//
//     node bot.js

const lines = require("readline").createInterface({ input: process.stdin });

lines.on("line", (line) => {
  const [word, ...rest] = line.trim().split(/\s+/);
  if (word === "game") {
    console.log("ready");
  } else if (word === "move") {
    const moves = rest.slice(3); // after colour, board and time
    console.log(moves[Math.floor(Math.random() * moves.length)]);
  } else if (word === "quit") {
    process.exit();
  }
});
