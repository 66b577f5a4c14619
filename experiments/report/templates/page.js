// What every page of the lab does: tables are sorted by a click, an agent is lit in figures, and
// what is folded is printed. No module: a page that is opened from disk may load none.
const lab = (() => {
  /** A text that the page has with it, compressed, by the id of its element. */
  async function unpacked(id) {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (each) => each.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  /** An element with properties and children; what begins with aria-, data- or role is an attribute. */
  function element(name, properties = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (/^(aria-|data-|role)/.test(key)) made.setAttribute(key, value);
      else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else made[key] = value;
    }
    made.append(...children);
    return made;
  }

  // ------------------------------------------------------------------ tables

  const UNITS = { s: 1e6, ms: 1e3, "µs": 1, k: 1e3, M: 1e6, "%": 1 };

  /** What a cell counts for when it is sorted: a number, undefined for none, or else its text. */
  function worth(cell) {
    const text = cell.textContent.replace(/\s+/g, " ").replace(/,/g, "").trim();
    if (["", "-", "—"].includes(text)) return undefined;
    const record = /^(\d+)-(\d+)-(\d+)$/.exec(text);
    if (record) return Number(record[1]) + Number(record[2]) / 2;
    const found = /^([<>]?) ?([+-]?)(\d*\.?\d*)(½?)(?:\/\d+)? ?(µs|ms|s|k|M|%)?(?= |$)/.exec(text);
    if (!found || !(found[3] || found[4])) return text;
    const size = (Number(found[3] || 0) + (found[4] ? 0.5 : 0)) * (UNITS[found[5]] ?? 1);
    const edge = { "<": -1e-6, ">": 1e-6 }[found[1]] ?? 0; // beyond the number itself
    return (found[2] === "-" ? -size : size) + edge;
  }

  function sortBy(table, column, heading) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, key: worth(row.cells[column]) }));
    const known = rows.filter(({ key }) => key !== undefined);
    const numbers = known.filter(({ key }) => typeof key === "number").length > known.length / 2;
    const before = heading.getAttribute("aria-sort");
    const down = before ? before === "ascending" : numbers; // the greatest number first
    const compare = (one, other) =>
      typeof one === "number" && typeof other === "number"
        ? one - other
        : String(one).localeCompare(String(other), "en", { numeric: true });
    const usable = (key) => key !== undefined && (!numbers || typeof key === "number");
    rows.sort((one, other) => {
      if (!usable(one.key) || !usable(other.key)) return usable(other.key) - usable(one.key);
      return (down ? -1 : 1) * compare(one.key, other.key);
    });
    body.append(...rows.map(({ row }) => row));
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  }

  function makeSortable(table) {
    if (!table.tHead || table.tBodies[0]?.rows.length < 2) return;
    for (const [column, heading] of [...table.tHead.rows[0].cells].entries()) {
      if (!heading.textContent.trim()) continue;
      const button = element("button", { type: "button", className: "sort", title: "Sort",
        onclick: () => sortBy(table, column, heading) });
      button.append(...heading.childNodes);
      heading.append(button);
    }
  }
  for (const table of document.querySelectorAll("main table")) makeSortable(table);

  // ------------------------------------------------------------------ paper

  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details:not([open])")];
    for (const each of unfolded) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of unfolded) each.open = false;
  });

  // ------------------------------------------------------------------ figures

  /** Light all of an agent, and dim the others, in the figure where the mouse is on it. */
  function light(figure, series) {
    figure.classList.toggle("lit", series !== undefined);
    for (const part of figure.querySelectorAll("[data-series]")) {
      part.classList.toggle("on", part.dataset.series === series);
    }
  }
  for (const figure of document.querySelectorAll("figure > svg")) {
    figure.addEventListener("pointerover", (event) => light(figure, event.target.closest("[data-series]")?.dataset.series));
    figure.addEventListener("pointerleave", () => light(figure, undefined));
  }

  return { unpacked, element, makeSortable };
})();
