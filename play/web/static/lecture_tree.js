// The tree of a search as a drawing: a row for each ply, a small box for each position.
import { element, svg } from "./dom.js";
import { endText, moveText, plural, valueText } from "./numbers.js";
import { shortValue } from "./lecture_view.js";

const SLOT = 2.9; // the least room for a box, in letters' heights
const WIDEST = 5.2;
const MARGIN = 10; // on the left, for whose turn it is and the window

/** A drawing in an element. onPick(node) is called for a click on a box. */
export function createTreeDrawing(title, onPick) {
  const heading = element("p", { className: "lecture-name" }, title);
  const root = svg("svg", { role: "img", "aria-label": `Tree of ${title}` });
  const box = element("div", { className: "lecture-tree" }, heading, element("div", { className: "lecture-canvas" }, root));

  function draw(view, step) {
    const canvas = root.parentElement;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const letter = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const { search } = view;
    const node = search.nodeAt(step);
    const path = search.path(node);
    const rows = layout(search, path, Math.floor((width - MARGIN * letter) / (SLOT * letter)));
    const deep = Math.max(...search.ply) + 1;
    const tall = Math.min(height / deep, 6 * letter);
    const size = { width: width - MARGIN * letter, left: MARGIN * letter, tall, letter };
    root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    root.setAttribute("width", width);
    root.setAttribute("height", height);
    const places = new Map();
    rows.forEach((row, ply) => row.forEach(({ key }, number) => {
      places.set(key, { x: size.left + (size.width * (number + 0.5)) / row.length, y: tall * (ply + 0.45), room: size.width / row.length });
    }));
    const links = svg("g", { class: "lecture-links" });
    const boxes = svg("g", {});
    const best = bestBelow(view, rows, step);
    const shown = new Set(rows.flat().map(({ node: each }) => each));
    rows.forEach((row, ply) => {
      if (ply < deep) boxes.append(...rowLabel(view, ply, path[ply], step, tall, size));
      for (const item of row) drawItem(item, ply);
    });

    function drawItem(item, ply) {
      if (!isShown(item)) return;
      const place = places.get(item.key);
      const parent = ply && places.get(`n${item.parent}`);
      const kind = kindOf(item);
      if (parent) {
        const half = boxHeight(size) / 2;
        const [from, to] = [parent.y + half, place.y - half];
        const middle = (from + to) / 2;
        links.append(svg("path", { class: kind, d: `M${parent.x} ${from} C${parent.x} ${middle} ${place.x} ${middle} ${place.x} ${to}` }));
      }
      boxes.append(nodeBox(item, place, kind));
    }

    /** What is not entered yet shows as soon as the position above it is; a second search of a move only
     * when it begins. */
    function isShown({ node: each, parent }) {
      if (each === 0) return true;
      if (!search.isEntered(parent, step)) return false;
      if (each === null || search.isEntered(each, step)) return true;
      const brothers = search.below[parent];
      return search.move[brothers[brothers.indexOf(each) - 1]] !== search.move[each];
    }

    function kindOf({ node: each, parent }) {
      const names = [];
      if (each === null) names.push(search.cut[parent] < step ? "cut" : "waiting");
      else if (!search.isEntered(each, step)) names.push("waiting");
      else if (search.isLeft(each, step)) names.push("left");
      else names.push("open");
      if (each !== null && each === node && step) names.push("now");
      if (each !== null && best.has(each)) names.push("best");
      return names.join(" ");
    }

    function nodeBox({ node: each, move }, { x, y, room }, kind) {
      const wide = Math.min(room * 0.9, WIDEST * letter);
      const high = boxHeight(size);
      const left = each !== null && search.isLeft(each, step);
      const name = each === 0 ? "root" : moveText(move);
      const lower = kind.includes("cut") ? "✂" : left ? view.boundedText(each) : "";
      const group = svg("g", { class: `lecture-node ${kind}`, transform: `translate(${x} ${y})` },
        svg("title", {}, describe(each, name, left)),
        svg("rect", { x: -wide / 2, y: -high / 2, width: wide, height: high, rx: 5 }));
      const upper = high > 1.9 * letter;
      const text = (content, at, className) => {
        const wanted = content.length * 0.62 * letter;
        return svg("text", { class: className, y: at, ...(wanted > wide ? { textLength: wide * 0.94, lengthAdjust: "spacingAndGlyphs" } : {}) }, content);
      };
      if (upper) group.append(text(name, lower ? -0.24 * high : 0, "move"), lower ? text(lower, 0.22 * high, "value") : "");
      else if (wide > 3.6 * letter && lower) group.append(text(`${name} ${lower}`, 0, "value"));
      else group.append(text(lower || name, 0, "value"));
      const inside = each !== null && left && !search.isLeaf(each);
      if (inside && !search.below[each].some((child) => shown.has(child)) && size.tall > high + letter) {
        group.append(svg("text", { class: "inside", y: high / 2 + 0.55 * letter }, `▾${sizeOf(each)}`));
      }
      if (each !== null && search.isEntered(each, step)) {
        group.classList.add("known");
        group.addEventListener("click", () => onPick(each));
      }
      return group;
    }

    function describe(each, name, left) {
      if (each === null) return `${name}: not searched`;
      return left ? `${name}: ${valueText(view.value(each))}, ${plural(sizeOf(each), "node")}` : name;
    }

    /** The number of nodes of a subtree. */
    function sizeOf(each) {
      let last = each + 1;
      while (last < search.size && search.ply[last] > search.ply[each]) last += 1;
      return last - each;
    }

    root.replaceChildren(links, boxes);
  }

  return { element: box, draw };
}

const boxHeight = ({ tall, letter }) => Math.min(2.7 * letter, tall * 0.62);

/** The boxes of each row: all that fit, else the moves of the position on the path. */
function layout(search, path, most) {
  const rows = [[{ key: "n0", node: 0, parent: -1 }]];
  for (let ply = 0; rows[ply]?.length; ply++) {
    const inside = rows[ply].map(({ node }) => node).filter((node) => node !== null && !search.isLeaf(node));
    let found = inside.flatMap((node) => movesOf(search, node));
    if (found.length > most) found = inside.includes(path[ply]) ? movesOf(search, path[ply]) : [];
    if (!found.length) break;
    rows.push(found);
  }
  return rows;
}

function movesOf(search, parent) {
  const searched = search.below[parent].map((node) => ({ key: `n${node}`, node, parent, move: search.move[node] }));
  const cut = (search.cuts[parent]?.moves ?? []).map((move) => ({ key: `c${parent}${move}`, node: null, parent, move }));
  return [...searched, ...cut];
}

/** The best move so far of each position that is drawn. */
function bestBelow(view, rows, step) {
  const found = new Set();
  for (const { node } of rows.flat()) {
    if (node === null || view.search.isLeaf(node)) continue;
    const { best, move } = view.search.windowAt(node, step);
    if (best === null) continue;
    found.add(view.search.below[node].find((child) =>
      view.search.move[child] === move && view.search.isLeft(child, step) && view.search.value[child] === best));
  }
  return found;
}

function rowLabel(view, ply, node, step, tall, { letter }) {
  const y = tall * (ply + 0.45);
  const beside = tall < 3 * letter; // no room below
  const found = [svg("text", { class: "who", x: 0, y: beside ? y : y - 0.4 * letter }, ply === view.search.answer.depth ? "leaves" : view.who(ply))];
  if (node === undefined || view.search.isLeaf(node) || !view.windowed || !view.search.isEntered(node, step)) return found;
  const { alpha, beta } = view.window(node, step);
  const text = (value, open) => (value === null ? open : shortValue(value));
  found.push(svg("text", { class: beside ? "ends small" : "ends", x: beside ? 3.5 * letter : 0, y: beside ? y : y + 0.75 * letter }, `α ${text(alpha, "−∞")}  β ${text(beta, "+∞")}`));
  return found;
}

export const windowLabel = (alpha, beta) => `alpha ${endText(alpha, "−∞")}, beta ${endText(beta, "+∞")}`;
