/* Sorts and filters the table of results. Without this script the table is complete, in the order
   of the papers. What is chosen is kept in the address: ?dataset=scinli&sort=system */
"use strict";

const collator = new Intl.Collator("en", { numeric: true });

/** Compare two cells: numbers ("> 99", "78.06 ± 0.39") by their value, others as text. */
function compareCells(a, b) {
  const [x, y] = [a, b].map((cell) => parseFloat(cell.replace(/^> /, "")));
  return Number.isNaN(x) || Number.isNaN(y) ? collator.compare(a, b) : x - y;
}

/** Return rows in the order of a column; empty cells come last either way, ties stay as they are. */
function sortRows(rows, column, descending) {
  return [...rows].sort((one, other) => {
    const [a, b] = [one.cells[column], other.cells[column]];
    if (!a || !b) return (a ? 0 : 1) - (b ? 0 : 1);
    return descending ? compareCells(b, a) : compareCells(a, b);
  });
}

/** Whether a row has every word that is searched, and in each column the value that is chosen: of
    "no: other rows" that is "no". */
function isShown(row, search, chosen) {
  const text = row.cells.join(" ").toLowerCase();
  return (
    search.toLowerCase().split(/\s+/).every((word) => text.includes(word)) &&
    Object.entries(chosen).every(([column, value]) => row.cells[column].split(":")[0] === value)
  );
}

function setUp(form, table) {
  const heads = [...table.tHead.rows[0].cells];
  const titles = heads.map((head) => head.textContent);
  const rows = [...table.tBodies[0].rows].map((element) => ({
    element,
    cells: [...element.cells].map((cell) => cell.textContent),
  }));
  const asked = new URLSearchParams(location.search);
  let sort = titles.indexOf(asked.get("sort"));
  let descending = asked.has("descending");

  function show() {
    const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
    const { search = "", ...values } = given;
    const chosen = Object.fromEntries(
      Object.entries(values).map(([title, value]) => [titles.indexOf(title), value]),
    );
    const sorted = sort < 0 ? rows : sortRows(rows, sort, descending);
    const shown = sorted.filter((row) => isShown(row, search, chosen));
    table.tBodies[0].replaceChildren(...shown.map((row) => row.element));
    heads.forEach((head, column) => {
      if (column === sort) head.ariaSort = descending ? "descending" : "ascending";
      else head.removeAttribute("aria-sort");
    });
    form.querySelector("output").value = `${shown.length} of ${rows.length} scores`;
    const query = new URLSearchParams(given);
    if (sort >= 0) query.set("sort", titles[sort]);
    if (sort >= 0 && descending) query.set("descending", "");
    history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}`);
  }

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => {
      descending = column === sort && !descending;
      sort = column;
      show();
    });
    button.addEventListener("focus", () => {
      // Not at the edge, where the column that stays in view would cover it.
      if (button.matches(":focus-visible")) {
        button.scrollIntoView({ block: "nearest", inline: "center" });
      }
    });
    head.append(button);
  });
  for (const field of form.elements) {
    if (field.name && asked.get(field.name)) field.value = asked.get(field.name);
    if (field.selectedIndex === -1) field.selectedIndex = 0; // there is no such value
  }
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => {
    sort = -1;
    descending = false;
    setTimeout(show); // once the fields are empty
  });
  form.hidden = false;
  show();
}

if (typeof document === "undefined") module.exports = { sortRows, isShown };
else setUp(document.querySelector("form.results"), document.querySelector("article table"));
