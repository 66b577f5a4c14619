// What the theme leaves out for people who use a keyboard or a screen reader.
const label = (selector, text) => document.querySelector(selector)?.setAttribute("aria-label", text);
label(".sidebar-drawer", "Pages");
label(".toc-drawer", "On this page");
for (const caption of document.querySelectorAll(".caption[role=heading]")) caption.setAttribute("aria-level", "2");
for (const wide of document.querySelectorAll("pre, .table-wrapper")) wide.tabIndex = 0; // it can be moved by keys
const results = document.getElementById("search-results");
if (results) {
  const heading = document.createElement("h1");
  heading.textContent = "Search";
  results.before(heading);
}
