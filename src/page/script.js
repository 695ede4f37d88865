"use strict";

// The theme: what the system wants, until somebody presses the button.
document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  root.dataset.theme = (root.dataset.theme || system) === "dark" ? "light" : "dark";
});

const make = (name, className, text) => {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};

// What an object has under a name; a process may have the name of something that every object
// inherits, such as `constructor`.
const own = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);

// One placement of a program is seen at a time.
for (const source of document.querySelectorAll(".source")) {
  source.addEventListener("change", (event) => {
    for (const version of source.querySelectorAll(".version")) {
      version.hidden = version.dataset.version !== event.target.value;
    }
    const widget = source.parentElement.querySelector(".timeline");
    if (widget && widget.show) widget.show();
  });
}

// Every state of a trace, from what each step changes.
const states = (trace) => {
  const { memory, locals, at } = trace.initial;
  const all = [{ memory, locals, at, buffers: {} }];
  for (const step of trace.steps) {
    const before = all[all.length - 1];
    all.push({
      memory: step.memory,
      locals: { ...before.locals, [step.process]: step.locals },
      at: step.at,
      buffers: step.buffers,
      step,
    });
  }
  return all;
};

const timeline = (widget) => {
  const data = JSON.parse(widget.querySelector("script").textContent);
  const select = widget.querySelector("select");
  const source = widget.parentElement.querySelector(".source");
  const controls = make("div", "controls");
  const what = make("div", "what");
  what.setAttribute("aria-live", "polite");
  const cards = make("div", "cards");
  const steps = make("div", "steps");
  const slider = make("input");
  slider.type = "range";
  slider.min = 0;
  slider.setAttribute("aria-label", "step");
  const position = make("output");
  let current = 0;
  let all = [];
  let trace;

  const button = (text, label, go) => {
    const element = make("button", "", text);
    element.type = "button";
    element.title = label;
    element.setAttribute("aria-label", label);
    element.addEventListener("click", () => move(go()));
    return element;
  };
  const move = (to) => {
    current = Math.max(0, Math.min(all.length - 1, to));
    show();
  };
  controls.append(
    button("|◀", "first step (Home)", () => 0),
    button("◀", "step back (←)", () => current - 1),
    button("▶", "step (→)", () => current + 1),
    button("▶|", "last step (End)", () => all.length - 1),
    slider,
    position,
  );
  slider.addEventListener("input", () => move(Number(slider.value)));

  const markSource = (state) => {
    if (!source) return;
    for (const old of source.querySelectorAll(".line.now")) old.classList.remove("now");
    for (const old of source.querySelectorAll(".at")) old.remove();
    const version = source.querySelector(".version:not([hidden])");
    const line = (number) => version && version.querySelector(`.line[data-line="${number}"]`);
    for (const [process, number] of Object.entries(state.at)) {
      const there = line(number);
      if (there) there.append(make("span", "at", process));
    }
    const now = state.step && line(state.step.line);
    if (!now) return;
    now.classList.add("now");
    const code = now.parentElement;
    const top = now.offsetTop - code.offsetTop;
    if (top < code.scrollTop || top > code.scrollTop + code.clientHeight - 40) {
      code.scrollTop = top - code.clientHeight / 2;
    }
  };

  const chips = (names, values, before, className) => {
    const row = make("span");
    names.forEach((name, index) => {
      const changed = before && before[index] !== values[index];
      row.append(make("span", `chip ${className}${changed ? " changed" : ""}`, `${name} = ${values[index] ?? "?"}`));
    });
    return row;
  };

  const card = (process, state, before) => {
    const element = make("div", "card" + (state.step && state.step.process === process ? " now" : ""));
    const head = make("h4", "", process);
    const at = own(state.at, process);
    head.append(make("small", "", at === undefined ? "stopped" : `at line ${at}`));
    const list = make("dl");
    const pending = own(state.buffers, process) || [];
    const buffer = make("dd", "buffer");
    pending.forEach((store) => buffer.append(make("span", "chip pending", store)));
    if (!pending.length) buffer.append(make("small", "", "empty"));
    list.append(make("dt", "", "buffer"), buffer);
    const locals = own(state.locals, process) || {};
    const names = Object.keys(locals);
    if (names.length) {
      const old = before && own(before.locals, process);
      const values = (of) => names.map((name) => own(of, name));
      const item = make("dd");
      item.append(chips(names, values(locals), old && values(old), ""));
      list.append(make("dt", "", "locals"), item);
    }
    element.append(head, list);
    return element;
  };

  const show = () => {
    const state = all[current];
    const before = current ? all[current - 1] : null;
    slider.value = current;
    position.textContent = `step ${current} of ${all.length - 1}`;
    what.replaceChildren();
    if (state.step) {
      const line = state.step.line ? ` line ${state.step.line}` : "";
      what.append(make("small", "", `${state.step.process}${line}: `), state.step.text);
    } else {
      what.append("start");
    }
    if (current === all.length - 1) what.append(make("span", "wrong", trace.end));
    const memory = make("div", "card memory");
    memory.append(make("h4", "", "memory"), chips(trace.places, state.memory, before && before.memory, ""));
    cards.replaceChildren(memory, ...data.processes.map((process) => card(process, state, before)));
    for (const row of steps.querySelectorAll("tr")) {
      const now = Number(row.dataset.step) === current;
      row.classList.toggle("now", now);
      if (now) {
        const top = row.offsetTop;
        if (top < steps.scrollTop || top + row.offsetHeight > steps.scrollTop + steps.clientHeight) {
          steps.scrollTop = top - steps.clientHeight / 2;
        }
      }
    }
    markSource(state);
  };

  // The text beside is the one that the execution belongs to.
  const follow = () => {
    if (!source) return;
    const wanted = [...source.querySelectorAll(".version")].find((version) => version.dataset.key === trace.version);
    const choice = wanted && source.querySelector(`.versions input[value="${wanted.dataset.version}"]`);
    if (choice && !choice.checked) choice.click();
  };

  const choose = () => {
    trace = data.traces[Number(select.value)];
    all = states(trace);
    slider.max = all.length - 1;
    const table = make("table");
    all.forEach((state, index) => {
      const row = make("tr", state.step && state.step.flush ? "flush" : "");
      row.dataset.step = index;
      const { process = "", line = "", text = "start" } = state.step || {};
      for (const cell of [index, process, line === null ? "" : line, text]) row.append(make("td", "", cell));
      row.addEventListener("click", () => move(index));
      table.append(row);
    });
    steps.replaceChildren(table);
    for (const picture of widget.querySelectorAll(".picture")) picture.hidden = picture.dataset.trace !== select.value;
    follow();
    move(0);
  };

  select.addEventListener("change", choose);
  widget.show = show;
  widget.keys = { ArrowLeft: () => current - 1, ArrowRight: () => current + 1, Home: () => 0, End: () => all.length - 1 };
  widget.move = move;
  const pictures = widget.querySelectorAll(".picture");
  widget.append(controls, what, cards, steps, ...pictures, make("p", "hint", "← and → step, Home and End go to the ends"));
  choose();
};

// Widgets are built when they are first seen; keys go to the one that was used last.
let active = null;
const build = (program) => {
  const widget = program.querySelector(".timeline");
  if (!widget) return;
  if (!widget.show) {
    widget.addEventListener("pointerdown", () => { active = widget; });
    widget.addEventListener("focusin", () => { active = widget; });
    timeline(widget);
  }
  active = widget;
};
const programs = [...document.querySelectorAll(".program")];
for (const program of programs) {
  if (program.open) build(program);
  program.addEventListener("toggle", () => {
    if (program.open) {
      build(program);
    } else if (active && program.contains(active)) {
      active = document.querySelector(".program[open] .timeline");
    }
  });
}
const follow = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target && target.tagName === "DETAILS") target.open = true;
};
addEventListener("hashchange", follow);
follow();
addEventListener("beforeprint", () => programs.forEach((program) => { program.open = true; build(program); }));
addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, select, textarea");
  if (!active || typing || event.altKey || event.ctrlKey || event.metaKey) return;
  const to = active.keys[event.key];
  // The ends of the page are for whoever is not in the widget.
  const ends = event.key === "Home" || event.key === "End";
  if (!to || (ends && !active.contains(document.activeElement))) return;
  event.preventDefault();
  active.move(to());
});
