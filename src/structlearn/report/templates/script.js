"use strict";
(() => {
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  const one = (selector, within = document) => within.querySelector(selector);
  document.documentElement.classList.add("script");

  // Light and dark: the system's choice until the button says otherwise.
  const toggle = one("button.theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const remembered = () => {
    try { return localStorage.getItem("structlearn-theme"); } catch { return null; }
  };
  const theme = () => document.documentElement.dataset.theme || (system.matches ? "dark" : "light");
  const name = () => { toggle.textContent = theme() === "dark" ? "Light" : "Dark"; };
  if (remembered()) document.documentElement.dataset.theme = remembered();
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
    try { localStorage.setItem("structlearn-theme", theme()); } catch { /* a private window */ }
    name();
  });
  system.addEventListener("change", name);
  name();

  // Tooltips at once, for mouse, finger and keyboard; without the script <title> does the same, slowly.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "tooltip");
  document.body.append(tip);
  for (const title of all("svg g.cell > title, svg circle > title")) {
    title.parentElement.dataset.tip = title.textContent;
    title.remove();
  }
  const show = (target) => {
    tip.textContent = target.dataset.tip;
    tip.classList.add("shown");
    const at = target.getBoundingClientRect();
    const left = at.left + at.width / 2 - tip.offsetWidth / 2;
    const above = at.top - tip.offsetHeight - 8;
    tip.style.left = `${Math.max(6, Math.min(left, innerWidth - tip.offsetWidth - 6))}px`;
    tip.style.top = `${above > 6 ? above : at.bottom + 8}px`;
  };
  const follow = (event) => {
    const target = event.target.closest?.("[data-tip]");
    if (target) show(target); else tip.classList.remove("shown");
  };
  for (const kind of ["pointerover", "pointerdown", "focusin"]) document.addEventListener(kind, follow);
  addEventListener("scroll", () => tip.classList.remove("shown"), { passive: true });

  // Tables: a click on a heading sorts, another one the other way round.
  const value = (row, column, kind) => {
    const cell = row.cells[column];
    if (kind === "text") return cell.textContent;
    return cell.dataset.value === "" ? -Infinity : Number(cell.dataset.value);
  };
  for (const head of all("table.sortable th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const kind = head.dataset.sort;
      const first = kind === "text" ? "ascending" : "descending";
      const other = kind === "text" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      for (const each of head.parentElement.cells) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const body = head.closest("table").tBodies[0];
      const sign = order === "ascending" ? 1 : -1;
      const rows = Array.from(body.rows).map((row) => [value(row, head.cellIndex, kind), row]);
      rows.sort(([a], [b]) => sign * (kind === "text" ? a.localeCompare(b, undefined, { numeric: true }) : Math.sign(a - b) || 0));
      body.append(...rows.map(([, row]) => row));
    });
  }

  // Long lists: only so many at once of those that pass the filter.
  const pager = (list, items, passes) => {
    const size = Number(list.dataset.page);
    const button = one("button", list.nextElementSibling);
    let limit = size;
    const refresh = () => {
      let passing = 0;
      for (const item of items()) {
        const fits = passes(item);
        passing += fits;
        item.hidden = !fits || passing > limit;
      }
      button.hidden = passing <= limit;
      button.textContent = `Show ${Math.min(size, passing - limit)} more of ${passing - limit}`;
      return passing;
    };
    button.addEventListener("click", () => { limit += size; refresh(); });
    return () => { limit = size; return refresh(); };
  };

  const list = one("ol.mistakes");
  if (list) {
    const form = one("#mistake-controls");
    const output = one("output", form);
    const chip = one("button.pair", form);
    const items = () => Array.from(list.children);
    const pairs = new Map(items().map((item) => [item, item.dataset.pairs.split("\x1e").map((pair) => pair.split("\x1f"))]));
    const words = new Map(items().map((item) => [
      item, all(".word, .text, .outputs", item).map((word) => word.textContent).join(" ").toLowerCase(),
    ]));
    const place = new Map(items().map((item, k) => [item, k]));
    form.elements.label.parentElement.hidden = form.elements.label.options.length < 2;
    form.elements.text.parentElement.hidden = ![...words.values()].some((text) => text.trim());
    let chosen = null;
    const passes = (item) => {
      const label = form.elements.label.value;
      const text = form.elements.text.value.trim().toLowerCase();
      const found = pairs.get(item);
      return (!text || words.get(item).includes(text))
        && (!label || found.some((pair) => pair.includes(label)))
        && (!chosen || found.some(([y, p]) => y === chosen.true && p === chosen.predicted));
    };
    const refresh = pager(list, items, passes);
    const keys = {
      loss: (item) => [-Number(item.dataset.loss), place.get(item)],
      margin: (item) => [item.dataset.margin === "" ? Infinity : -Number(item.dataset.margin), place.get(item)],
      long: (item) => [-Number(item.dataset.length), place.get(item)],
      short: (item) => [Number(item.dataset.length), place.get(item)],
    };
    const update = () => {
      const key = keys[form.elements.sort.value];
      const sorted = items().map((item) => [key(item), item]).sort(([a], [b]) => (a[0] - b[0]) || (a[1] - b[1]));
      list.append(...sorted.map(([, item]) => item));
      const passing = refresh();
      output.textContent = `${passing} of ${place.size} shown here`;
      chip.hidden = !chosen;
      if (chosen) {
        chip.textContent = `${chosen.true} taken for ${chosen.predicted} ✕`;
        chip.setAttribute("aria-label", `${chip.textContent}: remove this filter`);
        output.textContent += `; ${chosen.count} such labels in all data`;
      }
      for (const each of all("[data-true]")) {
        const on = chosen && each.dataset.true === chosen.true && each.dataset.predicted === chosen.predicted;
        each.classList.toggle("chosen", Boolean(on));
        each.setAttribute("aria-pressed", String(Boolean(on)));
      }
    };
    form.addEventListener("input", update);
    form.addEventListener("submit", (event) => event.preventDefault());
    chip.addEventListener("click", () => { chosen = null; update(); });
    const choose = (target) => {
      const same = chosen && chosen.true === target.dataset.true && chosen.predicted === target.dataset.predicted;
      chosen = same ? null : { ...target.dataset };
      update();
      if (chosen) one("#mistakes").scrollIntoView({ behavior: "smooth" });
    };
    for (const target of all("[data-true]")) {
      target.addEventListener("click", () => choose(target));
      if (target.tagName !== "BUTTON") target.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(target); }
      });
    }
    update();
  }

  const panels = one(".panels");
  if (panels) {
    const form = one("#feature-controls");
    const text = () => form.elements.text.value.trim().toLowerCase();
    const passes = (panel) => {
      const wanted = text();
      const whole = panel.dataset.label.toLowerCase().includes(wanted);
      let any = false;
      for (const row of all("li", panel)) {
        const fits = whole || one(".feature", row).textContent.toLowerCase().includes(wanted);
        row.hidden = !fits;
        any ||= fits;
      }
      return whole || any;
    };
    const refresh = pager(panels, () => Array.from(panels.children), passes);
    const update = () => {
      const passing = refresh();
      one("output", form).textContent = text() ? `${passing} of ${panels.children.length} labels` : "";
    };
    form.addEventListener("input", update);
    form.addEventListener("submit", (event) => event.preventDefault());
    update();
  }
})();
