// Small helpers for building the page.

/** An element with properties, attributes and children. `on…` are listeners. */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && !key.startsWith("aria")) made[key] = value;
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** An SVG element with attributes. */
export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
/** A message as a sentence; names of squares stay as they are. */
export const sentence = (text) => (/^[a-h]\d\b/.test(text) ? text : capital(text)) + (/[.!?]$/.test(text) ? "" : ".");
export const other = (color) => (color === "black" ? "white" : "black");
export const byId = (id) => document.getElementById(id);
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
