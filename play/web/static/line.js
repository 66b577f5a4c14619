// The line to the server: messages, questions, and a new line when one is lost.

const KEY = "visit"; // of this tab, so that two tabs are two games
const LINK = /^#game=([A-Za-z0-9_-]{22})$/; // the end of the address of a game

const GAMES = "games"; // of this browser, the latest first
const MOST = 100;

/** The numbers of the games that this browser has shown, the latest first. */
export function myGames() {
  try {
    return JSON.parse(localStorage.getItem(GAMES) ?? "[]");
  } catch {
    return [];
  }
}

const linked = () => LINK.exec(location.hash)?.[1] ?? null;

/**
 * Connect, and stay connected. on: {welcome, state, lost} are told what comes; lost with what the
 * server has said against this page, if anything. addressed: false if the end of the address is not
 * the game's.
 * Returns {tell, ask}: tell(message) resolves when the server has done it, and rejects with an Error
 * whose message says why not; ask(name, options, {signal, onNote}) resolves with the answer.
 */
export function connect(on, { addressed = true } = {}) {
  let socket = null;
  let number = 0;
  let wait = 250;
  let refused = "";
  const open = new Map();

  function start() {
    socket = new WebSocket(`ws://${location.host}/line`);
    socket.addEventListener("open", () => {
      send({ type: "hello", visit: (addressed && linked()) || sessionStorage.getItem(KEY) });
    });
    socket.addEventListener("message", (event) => hear(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      for (const each of open.values()) each.reject(new Error("the server does not answer"));
      open.clear();
      on.lost(refused);
      refused = "";
      setTimeout(start, wait);
      wait = Math.min(4000, 2 * wait);
    });
  }

  const send = (message) => socket.send(JSON.stringify(message));

  function hear(message) {
    const waiting = open.get(message.ref ?? message.id);
    switch (message.type) {
      case "welcome":
        wait = 250;
        remember(message.visit);
        on.welcome(message);
        break;
      case "moved": remember(message.visit); break;
      case "state": on.state(message); break;
      case "done": settle(message.ref, "resolve", null); break;
      case "error": settle(message.ref, "reject", new Error(message.text)); break;
      case "note": waiting?.onNote?.(message.text); break;
      case "answer":
        if ("ok" in message) settle(message.id, "resolve", message.ok);
        else settle(message.id, "reject", new Error(message.trouble));
        break;
      case "refused": refused = message.text; break;
    }
  }

  /** Keep the number of the game that the page shows: for this tab, and in the list of one's games. */
  function remember(visit) {
    sessionStorage.setItem(KEY, visit);
    if (!addressed) return;
    history.replaceState(null, "", `#game=${visit}`);
    localStorage.setItem(GAMES, JSON.stringify([visit, ...myGames().filter((each) => each !== visit)].slice(0, MOST)));
  }

  function settle(key, how, value) {
    open.get(key)?.[how](value);
    open.delete(key);
  }

  function promised(message, key, onNote) {
    return new Promise((resolve, reject) => {
      if (socket?.readyState !== WebSocket.OPEN) {
        reject(new Error("the server does not answer"));
        return;
      }
      open.set(key, { resolve, reject, onNote });
      send(message);
    });
  }

  if (addressed) window.addEventListener("hashchange", () => location.reload());
  start();
  return {
    tell(message) {
      number += 1;
      return promised({ ...message, ref: number }, number);
    },
    ask(name, options = {}, { signal, onNote } = {}) {
      if (signal?.aborted) return Promise.reject(new Error("stopped"));
      number += 1;
      const id = number;
      signal?.addEventListener("abort", () => {
        if (open.has(id)) send({ type: "cancel", id });
      });
      return promised({ type: "ask", id, name, options }, id, onNote);
    },
  };
}
