// The tree of a search as it grew: its nodes, and its events one after another.

/** What can happen. A leaf is entered and left in one. */
export const ENTER = 0;
export const LOOK = 1;
export const CUT = 2;
export const LEAVE = 3;

export const COUNTS = ["nodes", "leaves", "evaluations", "cutoffs"];
const DISC = { black: "X", white: "O" };
const OTHER = { black: "white", white: "black" };

export class Search {
  /** answer: to the question "tree", see play/web/explanations.py. side: squares in a row of the board. */
  constructor(answer, side) {
    this.answer = answer;
    this.side = side;
    Object.assign(this, answer.nodes); // move, ply, flips, alpha, beta, value, kind
    this.size = this.ply.length;
    this.line = new Set(answer.line);
    this.looks = answer.looks;
    this.cuts = answer.cuts;
    this.parent = new Int32Array(this.size).fill(-1);
    this.below = Array.from({ length: this.size }, () => []);
    const path = [];
    for (let node = 0; node < this.size; node++) {
      path.length = this.ply[node];
      if (path.length) {
        this.parent[node] = path.at(-1);
        this.below[path.at(-1)].push(node);
      }
      path.push(node);
    }
    this.#order();
  }

  /** Put the events in their order: a node is entered, its moves are looked at to order them, then
   * searched; perhaps the rest is cut; it is left. */
  #order() {
    this.events = []; // [kind, node]
    this.entered = new Int32Array(this.size); // by node, how many events came before
    this.left = new Int32Array(this.size);
    this.looked = {};
    this.cut = {};
    const counts = COUNTS.map(() => [0]);
    const add = (kind, node, ...more) => {
      this.events.push([kind, node]);
      counts.forEach((row, index) => row.push(row.at(-1) + (more[index] ?? 0)));
      return this.events.length - 1;
    };
    const leave = (node) => {
      if (node in this.cuts) this.cut[node] = add(CUT, node, 0, 0, 0, 1);
      this.left[node] = add(LEAVE, node);
    };
    const open = [];
    for (let node = 0; node < this.size; node++) {
      while (open.length > this.ply[node]) leave(open.pop());
      const leaf = this.isLeaf(node);
      const evaluated = this.kind[node] === "e";
      this.entered[node] = add(ENTER, node, 1, Number(leaf), Number(evaluated), 0);
      if (leaf) {
        this.left[node] = this.entered[node];
        continue;
      }
      open.push(node);
      const looks = this.looks[node];
      if (looks) {
        const evaluations = looks.filter(([, , counted]) => counted).length;
        this.looked[node] = add(LOOK, node, 0, 0, evaluations, 0);
      }
    }
    while (open.length) leave(open.pop());
    this.counts = counts;
  }

  get steps() {
    return this.events.length;
  }

  isLeaf(node) {
    return this.kind[node] === "e" || this.kind[node] === "g";
  }

  /** The counts after so many events, by name. */
  countsAt(step) {
    return Object.fromEntries(COUNTS.map((name, index) => [name, this.counts[index][step]]));
  }

  /** The node that the last of so many events is about. */
  nodeAt(step) {
    return step ? this.events[step - 1][1] : 0;
  }

  isEntered(node, step) {
    return this.entered[node] < step;
  }

  isLeft(node, step) {
    return this.left[node] < step;
  }

  /** Who makes the move that leads to a node; who is to move there. */
  maker(node) {
    return OTHER[this.mover(node)];
  }

  mover(node) {
    return this.ply[node] % 2 ? OTHER[this.answer.to_move] : this.answer.to_move;
  }

  /** The nodes from the root to this one. */
  path(node) {
    const found = [];
    for (let each = node; each >= 0; each = this.parent[each]) found.unshift(each);
    return found;
  }

  /** The node to which a line of moves leads, as far as the search followed it. */
  follow(moves) {
    let node = 0;
    for (const move of moves) {
      const child = this.below[node].findLast((each) => this.move[each] === move);
      if (child === undefined) break;
      node = child;
    }
    return node;
  }

  /** The window and the best move of a node that is looked beyond, after so many events; to who is
   * to move there. null: open, or none yet. */
  windowAt(node, step) {
    const negative = (value) => (value === null ? null : -value);
    const beta = negative(this.alpha[node]);
    let alpha = negative(this.beta[node]);
    let best = null;
    let move = null;
    for (const child of this.below[node]) {
      if (!this.isLeft(child, step)) break;
      if (best === null || this.value[child] > best) {
        best = this.value[child];
        move = this.move[child];
      }
    }
    if (best !== null && (alpha === null || best > alpha)) alpha = best;
    return { alpha, beta, best, move };
  }

  /** The position of a node: the squares a1, b1, ... as X, O or -. */
  board(node) {
    const squares = [...this.answer.board];
    for (const each of this.path(node).slice(1)) {
      if (this.move[each] === "--") continue;
      const disc = DISC[this.maker(each)];
      for (const name of [this.move[each], ...this.turned(each)]) squares[this.#index(name)] = disc;
    }
    return squares.join("");
  }

  /** The squares whose discs a move turns. */
  turned(node) {
    return this.flips[node].match(/../g) ?? [];
  }

  #index(name) {
    return (Number(name[1]) - 1) * this.side + "abcdefgh".indexOf(name[0]);
  }

  /** The next step, or with -1 the one before, at which something was just cut; null: none. */
  nextCut(step, direction) {
    for (let at = step + direction; at > 0 && at <= this.steps; at += direction) {
      if (this.events[at - 1][0] === CUT) return at;
    }
    return null;
  }
}
