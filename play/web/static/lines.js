// The tree of a search, a line for each move.
import { stone } from "./asking.js";
import { element } from "./dom.js";
import { moveText, plural, valueText } from "./numbers.js";
import { CUT, LOOK } from "./search.js";
import { again, boundedValue, lookText, windowed, windowText } from "./words.js";

/** The lines of a tree that are open, to be clicked and walked through. view: the step, the node that
 * is selected, and the nodes that are open (manual, auto), which select, toggle and goTo change. */
export function createTreeView(view, { select, toggle, goTo }) {
  const root = element("div", { role: "tree", "aria-label": "Search tree" });
  let rows = [];
  let search = null;
  let focused = "n0";

  const isOpen = (node) => view.manual.has(node) || view.auto.has(node);

  /** The lines that can be seen, from the top. */
  function* visible(node, level) {
    const inside = !search.isLeaf(node);
    yield { key: `n${node}`, node, level, inside, open: inside && isOpen(node) };
    if (!inside || !isOpen(node)) return;
    if (search.looked[node] < view.step) yield { key: `l${node}`, node, level: level + 1, kind: "look" };
    for (const child of search.below[node]) {
      if (!search.isEntered(child, view.step)) return;
      yield* visible(child, level + 1);
    }
    if (!(search.cut[node] < view.step)) return;
    yield { key: `c${node}`, node, level: level + 1, kind: "cut" };
    for (const move of search.cuts[node].moves) {
      yield { key: `u${node}${move}`, node, level: level + 1, kind: "unsearched", move };
    }
  }

  function draw(now) {
    const another = search !== now;
    search = now;
    const had = root.contains(document.activeElement);
    rows = view.step ? [...visible(0, 1)] : [];
    if (another || !rows.some(({ key }) => key === focused)) focused = `n${view.selected}`;
    if (!rows.some(({ key }) => key === focused)) focused = "n0";
    root.replaceChildren(...rows.map(line));
    const active = root.querySelector('[tabindex="0"]');
    if (had) active?.focus({ preventScroll: true });
    const news = root.querySelectorAll(".now");
    if (news.length) keepInSight(news[0], news[news.length - 1]);
    else if (had && active) keepInSight(active, active);
  }

  /** Scroll within the tree alone; the page stays where it is. */
  function keepInSight(first, last) {
    const box = root.getBoundingClientRect();
    const over = last.getBoundingClientRect().bottom - box.bottom + 8;
    if (over > 0) root.scrollTop += over;
    const under = box.top - first.getBoundingClientRect().top + 8;
    if (under > 0) root.scrollTop -= under;
  }

  /** Whether a line tells of what has just happened. */
  function isNews({ kind, node }) {
    if (!view.step || view.step === search.steps) return false;
    const [event, at] = search.events[view.step - 1];
    if (node !== at) return false;
    if (event === LOOK) return kind === "look";
    if (event === CUT) return kind === "cut" || kind === "unsearched";
    return !kind;
  }

  function line(row) {
    const made = element("div", {
      role: "treeitem", tabindex: row.key === focused ? "0" : "-1", "data-key": row.key,
      "aria-level": row.level, className: `why-row ${row.kind ?? ""}`,
    });
    made.style.setProperty("--level", row.level - 1);
    made.classList.toggle("now", isNews(row));
    if (row.kind) {
      made.append(...CONTENT[row.kind](search, row));
      made.setAttribute("aria-disabled", "true");
    } else {
      if (row.inside) made.setAttribute("aria-expanded", row.open);
      made.setAttribute("aria-selected", row.node === view.selected);
      if (search.line.has(row.node) && view.step === search.steps) made.classList.add("chosen");
      if (!search.isLeft(row.node, view.step)) made.classList.add("under-way");
      made.append(...nodeContent(search, row, view.step));
    }
    return made;
  }

  const rowOf = (event) => {
    const key = event.target.closest("[role=treeitem]")?.dataset.key;
    return rows.findIndex((row) => row.key === key);
  };

  function moveTo(index) {
    const row = rows[index];
    if (!row) return;
    focused = row.key;
    if (!row.kind && row.node !== view.selected) select(row.node);
    else draw(search);
    root.querySelector('[tabindex="0"]')?.focus();
  }

  root.addEventListener("click", (event) => {
    const index = rowOf(event);
    if (index < 0) return;
    const row = rows[index];
    focused = row.key;
    if (!row.kind && row.inside) toggle(row.node);
    moveTo(rows.findIndex(({ key }) => key === focused));
  });

  root.addEventListener("keydown", (event) => {
    const index = rowOf(event);
    if (index < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const row = rows[index];
    const branch = !row.kind && row.inside;
    switch (event.key) {
      case "ArrowDown": moveTo(index + 1); break;
      case "ArrowUp": moveTo(index - 1); break;
      case "Home": moveTo(0); break;
      case "End": moveTo(rows.length - 1); break;
      case "ArrowRight":
        if (branch && !row.open) toggle(row.node);
        else if (branch) moveTo(index + 1);
        break;
      case "ArrowLeft":
        if (branch && row.open) toggle(row.node);
        else moveTo(rows.findLastIndex((each, at) => at < index && each.level < row.level));
        break;
      case "Enter": if (!row.kind) goTo(search.entered[row.node] + 1); break;
      case " ": if (branch) toggle(row.node); break;
      default: return;
    }
    event.preventDefault();
  });

  return { element: root, draw };
}

const CONTENT = {
  look: (search, { node }) => [
    element("span", { className: "why-soft" },
      `evaluated to order the moves: ${lookText(search.looks[node])}`)],
  cut: (search, { node }) => {
    const { value, beta, moves } = search.cuts[node];
    return [element("span", {},
      `✂ cut: ${valueText(value)} ≥ beta ${valueText(beta)}, ${plural(moves.length, "move")} not looked at`)];
  },
  unsearched: (search, { node, move }) => [
    stone(search.mover(node)), element("s", {}, moveText(move)), element("span", { className: "why-soft" }, "not looked at")],
};

function nodeContent(search, row, step) {
  const { node } = row;
  const arrow = element("span", { className: "why-arrow", "aria-hidden": "true" }, row.inside ? (row.open ? "▾" : "▸") : "");
  const left = search.isLeft(node, step);
  const value = left ? boundedValue(search, node) : "…";
  const found = [arrow];
  if (node === 0) found.push(element("b", {}, "the position"));
  else found.push(stone(search.maker(node)), element("b", {}, moveText(search.move[node])));
  found.push(element("span", { className: "why-value" }, value));
  const notes = [];
  if (search.kind[node] === "g") notes.push("game over");
  if (search.kind[node] === "e") notes.push("evaluated");
  if (row.inside && node) {
    if (again(search, node)) notes.push("again");
    if (windowed(search)) notes.push(windowText(search, node).slice(2));
    if (left) notes.push(plural(search.counts[0][search.left[node]] - search.counts[0][search.entered[node]], "node"));
  }
  found.push(element("span", { className: "why-soft" }, notes.join(" · ")));
  if (search.line.has(node) && step === search.steps) {
    found.push(element("span", { className: "why-star", role: "img", "aria-label": "chosen line" }, "★"));
  }
  return found;
}
