// Search, filters, sorting and downloads of tables, and what a pointer or the arrow keys show on curves. Without it all
// rows and curves are there as well.
"use strict";

(function () {
  const SVG = "http://www.w3.org/2000/svg";

  function parsed(id) {
    return JSON.parse(document.getElementById(id).textContent);
  }

  // What the index takes for a word (tables.py): "zero_grad()" is found as it is typed.
  const WORD = /[\p{L}\p{N}_.+-]*[\p{L}\p{N}_]/gu;

  // ---- Tables -------------------------------------------------------------------------------------------------------

  // The state of all tables of the page lives in its address: #q=zero&location=compiler&sort=-seconds
  function readHash() {
    const text = location.hash.slice(1);
    return text.includes("=") ? new URLSearchParams(text) : null;
  }

  function finder(form) {
    const id = form.dataset.finder;
    const table = document.getElementById(id);
    const body = table.tBodies[0];
    const rows = new Map(Array.from(body.rows, (row) => [row.dataset.key, row]));
    const index = parsed(id + "-index");
    const status = form.querySelector(".found");
    const controls = Array.from(form.elements).filter((each) => each.name);
    let sorted = "";

    function matches(entry) {
      for (const control of controls) {
        const value = control.value.trim();
        if (!value) continue;
        if (control.name === "q") {
          const words = value.toLowerCase().match(WORD) || [];
          if (!words.every((word) => entry.words.includes(word))) return false;
        } else if (!(entry.facets[control.name] || []).includes(value)) {
          return false;
        }
      }
      return true;
    }

    function compare(column, down) {
      return function (a, b) {
        const x = a.order[column], y = b.order[column];
        // What is not known comes last, in either order.
        if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
        const order = typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
        return down ? -order : order;
      };
    }

    function show() {
      const entries = index.slice();
      const down = sorted.startsWith("-");
      const column = sorted.replace("-", "");
      if (column) entries.sort(compare(column, down));
      let count = 0;
      for (const entry of entries) {
        const row = rows.get(entry.key);
        row.hidden = !matches(entry);
        count += row.hidden ? 0 : 1;
        body.appendChild(row);
      }
      for (const head of table.tHead.rows[0].cells) {
        if (column && head.dataset.column === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      }
      const group = controls.find((each) => each.name === "group");
      // One group is chosen: a column that says it in each row takes room.
      table.classList.toggle("one-group", Boolean(group && group.value));
      status.textContent = count + " of " + index.length + " " + table.dataset.thing;
      if (!count) status.textContent += ": nothing fits. Take a filter away, or press Reset.";
    }

    function write() {
      const state = new URLSearchParams();
      for (const control of controls) {
        const value = control.value.trim();
        if (value !== (control.dataset.default || "")) state.set(control.name, value);
      }
      if (sorted) state.set("sort", sorted);
      const text = state.toString();
      history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
    }

    function read() {
      const state = readHash();
      if (!state && location.hash.length > 1) return;
      for (const control of controls) {
        const value = state && state.has(control.name) ? state.get(control.name) : control.dataset.default || "";
        const known = control.tagName !== "SELECT" || Array.from(control.options).some((each) => each.value === value);
        control.value = known ? value : "";
      }
      const wanted = (state && state.get("sort")) || "";
      sorted = index.length && wanted.replace("-", "") in index[0].order ? wanted : "";
      show();
    }

    function changed() {
      write();
      show();
    }

    for (const head of table.tHead.rows[0].cells) {
      const column = head.dataset.column;
      if (!column) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", function () {
        sorted = sorted === column ? "-" + column : column;
        changed();
      });
    }
    // Some programs that fill in forms for people send the one event, some the other.
    form.addEventListener("input", changed);
    form.addEventListener("change", changed);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", function () {
      sorted = "";
      setTimeout(changed);
    });
    window.addEventListener("hashchange", read);
    form.hidden = false;
    show();
    read();
  }

  // A table without filters: a click on a heading sorts its rows.
  function sortable(table) {
    const body = table.tBodies[0];
    const heads = Array.from(table.tHead.rows[0].cells);
    const collator = new Intl.Collator("en", { numeric: true });

    function key(row, column) {
      const cell = row.cells[column];
      return cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
    }

    function compare(column, down) {
      return function (a, b) {
        const x = key(a, column), y = key(b, column);
        // What is not known comes last, in either order.
        if (x === "" || y === "") return x === y ? 0 : x === "" ? 1 : -1;
        // A collator takes the digits behind a point for a whole number of their own.
        const difference = Number(x) - Number(y);
        const order = Number.isNaN(difference) ? collator.compare(x, y) : difference;
        return down ? -order : order;
      };
    }

    heads.forEach(function (head, column) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", function () {
        const down = column > 0 ? head.getAttribute("aria-sort") !== "descending" : head.getAttribute("aria-sort") === "ascending";
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        body.append(...Array.from(body.rows).sort(compare(column, down)));
      });
    });
  }

  // The words of a cell, without what is drawn for the eye alone.
  function words(cell) {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll('[aria-hidden="true"]').forEach((part) => part.remove());
    return copy.textContent.replace(/\s+/g, " ").trim();
  }

  // The rows that are shown now as CSV, headings first.
  function csv(table) {
    const shown = Array.from(table.rows).filter((row) => !row.hidden);
    const quoted = (text) => (/[",]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
    return shown.map((row) => Array.from(row.cells, (cell) => quoted(words(cell))).join(",") + "\n").join("");
  }

  function downloadable(table) {
    const line = document.createElement("p");
    const button = document.createElement("button");
    line.className = "download";
    button.type = "button";
    button.textContent = "Download this table";
    button.setAttribute("aria-label", button.textContent + ": " + table.caption.textContent);
    line.appendChild(button);
    button.addEventListener("click", function () {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv;charset=utf-8" }));
      link.download = table.dataset.download + ".csv";
      link.click();
      // The browser reads it a moment later.
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    });
    table.parentElement.before(line);
  }

  // ---- Curves -------------------------------------------------------------------------------------------------------

  function drawn(tag, attributes, parent) {
    const element = document.createElementNS(SVG, tag);
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    parent.appendChild(element);
    return element;
  }

  function chart(figure) {
    const data = parsed(figure.dataset.chart);
    const svg = figure.querySelector("svg");
    const items = Array.from(figure.querySelectorAll(".legend li"));
    const [left, top, right, bottom] = data.box;
    const marks = drawn("g", { "aria-hidden": "true" }, svg);
    const readout = document.createElement("p");
    readout.className = "readout";
    readout.setAttribute("aria-live", "polite");
    figure.appendChild(readout);
    const places = Array.from(new Map(data.curves.flatMap((c) => c.px.map((at, i) => [at, c.x[i]]))))
      .sort((a, b) => a[0] - b[0]);
    const on = data.curves.map(() => true);
    let at = -1;

    function show(place) {
      at = Math.max(0, Math.min(places.length - 1, place));
      const [px, x] = places[at];
      marks.replaceChildren();
      drawn("path", { class: "cross", d: "M" + px + " " + top + "V" + bottom }, marks);
      const said = [];
      data.curves.forEach(function (curve, number) {
        const i = curve.px.indexOf(px);
        if (i < 0 || !on[number]) return;
        drawn("circle", { class: "spot " + curve.variant, cx: px, cy: curve.py[i], r: 4 }, marks);
        const range = curve.low ? " (" + curve.low[i] + " to " + curve.high[i] + ")" : "";
        said.push(curve.label + " " + curve.mean[i] + range);
      });
      readout.textContent = x + ": " + said.join("; ");
    }

    function hide() {
      marks.replaceChildren();
      readout.textContent = "";
    }

    function nearest(event) {
      const box = svg.getBoundingClientRect();
      const px = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
      let best = 0;
      places.forEach(function (place, i) {
        if (Math.abs(place[0] - px) < Math.abs(places[best][0] - px)) best = i;
      });
      show(best);
    }

    items.forEach(function (item, number) {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.append(...item.childNodes);
      item.appendChild(button);
      button.addEventListener("click", function () {
        on[number] = !on[number];
        button.setAttribute("aria-pressed", String(on[number]));
        for (const part of svg.querySelectorAll('[data-curve="' + item.dataset.curve + '"]')) {
          part.classList.toggle("off", !on[number]);
        }
        hide();
      });
    });
    svg.setAttribute("tabindex", "0");
    svg.addEventListener("pointermove", nearest);
    svg.addEventListener("pointerdown", nearest);
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", function (event) {
      const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: places.length - 1 };
      if (event.key === "Escape") hide();
      if (!(event.key in moves)) return;
      event.preventDefault();
      show(moves[event.key]);
    });
  }

  document.querySelectorAll("form[data-finder]").forEach(finder);
  document.querySelectorAll("table[data-sortable]").forEach(sortable);
  document.querySelectorAll("table[data-download]").forEach(downloadable);
  document.querySelectorAll("figure[data-chart]").forEach(chart);
})();
