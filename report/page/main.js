// The page: unpacks its data, and connects the drawing, the time and the panels.

const byId = (id) => document.getElementById(id);

class Page {
  constructor(content) {
    this.content = content;
    this.runs = content.runs.map(() => null);
    this.drawing = new Drawing(byId("stage"), content.network, (what) => this.showChosen(what));
    this.drawing.redraw = () => this.player?.run && this.frame(this.player.cycle, 0.5);
    this.player = new Player((cycle) => this.cycle(cycle), (cycle, share) => this.frame(cycle, share));
    this.lanes = new Lanes(byId("lanes"), this.player, this.drawing);
    this.writeHead();
    this.writeComparison();
    this.writeLatency();
    byId("color").addEventListener("change", () => this.recolor());
    byId("heat").addEventListener("change", () => this.cycle(this.player.cycle));
    byId("rows").addEventListener("toggle", () => this.writeRows(this.player.cycle));
    this.watchTheme();
    this.use(content.chosen);
    this.open();
  }

  /** Show the cycle that the address names (#cycle=12), or play to the first delivered packet.
   *
   * In a lesson (#lesson) the answers are hidden until the end is seen, or until they are asked for.
   */
  open() {
    const asked = new URLSearchParams(location.hash.slice(1));
    if (asked.has("lesson")) this.hide();
    if (/^\d+$/.test(asked.get("cycle"))) this.player.go(+asked.get("cycle"));
    else if (this.run.detailed) {
      new IntersectionObserver((entries, observer) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        observer.disconnect();
        if (this.player.cycle === 0 && !this.player.playing) this.player.open(this.run.opening);
      }).observe(byId("stage"));
    }
  }

  hide() {
    document.body.classList.add("lesson", "hides");
    this.player.secret = true;
    byId("speed").value = SPEEDS[0];
    const show = () => this.reveal();
    byId("choose").append(make("button", { type: "button", id: "reveal", onclick: show }, "Show the answers"));
  }

  reveal() {
    document.body.classList.remove("hides");
    this.player.secret = false;
    this.player.show();
  }

  writeHead() {
    const { title, verdict, eyecast, runs } = this.content;
    byId("title").textContent = title;
    const mark = verdict.good === null ? "" : verdict.good ? "✓ " : "✗ ";
    byId("verdict").textContent = mark + verdict.text;
    byId("verdict").className = verdict.good === null ? "plain" : verdict.good ? "good" : "wrong";
    byId("made").textContent = `Made by Eyecast ${eyecast}.`;
    if (runs.length > 1) {
      const select = make("select", { id: "run", onchange: () => this.use(+select.value) },
        ...runs.map((run, number) => make("option", { value: number }, run.name)));
      byId("choose").append(make("label", {}, "Watch ", select));
    }
  }

  writeComparison() {
    const { comparison } = this.content;
    if (!comparison) return;
    const rows = comparison.rows.map((row) => [...row]);
    comparison.runs.forEach((runs, row) => runs.forEach((run) => {
      const { name, timing } = this.content.runs[run];
      const column = comparison.columns.indexOf(["cycles", timing].filter(Boolean).join(", "));
      const label = `Watch ${name}: ${rows[row][column]} cycles`;
      rows[row][column] = make("button", { type: "button", class: "cell", "data-run": run, "aria-label": label, onclick: () => this.use(run) }, rows[row][column]);
    }));
    const home = byId("comparison");
    home.append(table(comparison.title, comparison.columns, rows, (number) => (comparison.wrong.includes(number) ? "wrong" : null)),
      make("p", { class: "quiet" }, "Each number of cycles is a button that shows the run."));
    if (comparison.missing.length) {
      home.append(make("details", {}, make("summary", {}, "Not served"), ...comparison.missing.map((line) => make("p", { class: "quiet" }, line))));
    }
    home.hidden = false;
  }

  writeLatency() {
    const { latency } = this.content;
    if (!latency?.cycles.length) return;
    const home = make("div", { class: "plot" });
    byId("latency").append(make("h2", {}, "Latency of packets"), home);
    byId("latency").hidden = false;
    const most = latency.cycles.at(-1);
    const width = Math.max(1, Math.ceil((most + 1) / 80));
    const packets = new Array(Math.floor(most / width) + 1).fill(0);
    latency.cycles.forEach((cycles, i) => { packets[Math.floor(cycles / width)] += latency.packets[i]; });
    new Plot(home, {
      each: width,
      series: [{ values: packets, look: "flow" }],
      bars: true,
      height: 136,
      label: `Latencies of packets, in cycles: from ${latency.cycles[0]} to ${most}`,
      axis: width === 1 ? "latency in cycles" : `latency in cycles, ${width} to a bar`,
      textOf: (bin) => `${width === 1 ? bin : `${bin * width} to ${(bin + 1) * width - 1}`} cycles: ${count(packets[bin], "packet")}`,
    });
  }

  /** Return a run; if it differs from its prediction, with the predicted arrivals. */
  runAt(number) {
    const run = this.runs[number] ??= new Run(this.content.runs[number], this.content.network);
    if (run.difference && !run.predicted && this.content.runs[run.difference.model]?.program) {
      run.predicted = this.runAt(run.difference.model).arrivals;
    }
    return run;
  }

  /** Show one of the runs. */
  use(number) {
    this.run = this.runAt(number);
    if (byId("run")) byId("run").value = number;
    for (const button of document.querySelectorAll("[data-run]")) button.setAttribute("aria-pressed", +button.dataset.run === number);
    const { run } = this;
    const { title, timing, name } = run;
    byId("subtitle").textContent = [title === this.content.title ? "" : title, run.run_tables ? "circuits" : timing && `${timing} timing`, `shown: ${name === "model" ? "the cycle model, not hardware" : name}`].filter(Boolean).join(" · ");
    this.drawing.showRun(this.run);
    this.writeRun();
    this.offerColors();
    this.activity = activityPlot(byId("activity"), this.player, run);
    byId("timeline").hidden = !run.timeline;
    this.timeline = run.timeline && timelinePlot(byId("timeline"), this.player, run);
    this.player.use(this.run);
    byId("lanes").hidden = !run.detailed;
    if (run.detailed) this.lanes.use(run, this.color);
    this.showChosen(this.drawing.chosen);
  }

  writeRun() {
    const { run } = this;
    byId("tables").replaceChildren(...runTables(run));
    byId("purpose").textContent = PURPOSES[run.collective] ?? "";
    byId("about").replaceChildren(...run.about.map((line) => make("p", {}, line)));
    byId("of-circuits").hidden = !run.run_tables;
    byId("of-packets").hidden = Boolean(run.run_tables);
    byId("rows").firstElementChild.textContent = `${run.circuits ? "Words" : "Flits"} in this cycle`;
    byId("deadlock").hidden = !run.deadlock;
    byId("deadlock").replaceChildren(...(run.deadlock ? deadlockPart(run, this.drawing, this.player) : []));
    const lines = run.deadlock ? run.waiting.slice(0, 1) : [...Object.entries(run.flags).map(([node, names]) => `node ${run.network.names[node]} has set ${names.join(", ")}`), ...run.waiting];
    if (!run.finished && !run.deadlock) lines.unshift("the run does not finish");
    byId("trouble").hidden = lines.length === 0;
    byId("trouble").textContent = lines.slice(0, 4).join("; ") + (lines.length > 4 ? `; and ${lines.length - 4} lines more` : "");
    byId("difference").hidden = !run.difference;
    byId("difference").replaceChildren(...(run.difference ? [this.differenceButton(run.difference), differenceTable(run.difference)] : []));
    byId("notes").hidden = run.notes.length === 0;
    byId("notes").replaceChildren(...run.notes.map((note) => make("p", {}, note)));
    byId("rows").hidden = !run.detailed;
  }

  /** Return a button that goes to the first differing flit: its cycle, and its link or node. */
  differenceButton({ cycle, node, port }) {
    const { names, ports } = this.content.network;
    const link = this.drawing.linkOf.get(node * ports + port);
    const where = link === undefined ? { node } : { link };
    const place = link === undefined ? `node ${names[node]}` : this.drawing.linkName(link);
    const show = () => {
      this.player.go(cycle);
      this.drawing.choose(where);
    };
    return make("button", { type: "button", class: "difference", onclick: show }, `Show cycle ${cycle}, ${place}`);
  }

  offerColors() {
    this.colors = colorings(this.run);
    const names = Object.keys(this.colors);
    const before = byId("color").value;
    byId("color").replaceChildren(...names.map((name) => make("option", { value: name }, name)));
    if (names.includes(before)) byId("color").value = before;
    byId("color-label").hidden = names.length === 0;
    this.writeLegend();
  }

  recolor() {
    forgetColors();
    this.colors = colorings(this.run);
    this.writeLegend();
    if (this.run.detailed) this.lanes.recolor(this.color);
    this.frame(this.player.cycle, 0.5);
  }

  /** The function from a flit to its colour. */
  get color() {
    return this.colors[byId("color").value];
  }

  writeLegend() {
    const { run } = this;
    const all = [...legendOfFlits(run, byId("color").value), ...legendOfNodes(run, this.content.network), ...legendOfLinks(run, this.content.network)];
    byId("legend").replaceChildren(make("ul", { class: "legend", "aria-label": "Legend" }, ...all));
  }

  /** Show a cycle, except the flits on their way. */
  cycle(cycle) {
    const heat = this.run.detailed ? byId("heat").value : { plain: "bin" }[byId("heat").value] ?? byId("heat").value;
    this.drawing.show(this.run, cycle, heat);
    this.activity.mark(cycle);
    this.timeline?.mark(cycle);
    if (this.run.detailed) this.lanes.mark(cycle);
    if (this.player.secret && cycle >= this.run.cycles) this.reveal();
    byId("now").textContent = sentence(this.run, cycle);
    byId("seen").textContent = seen(this.run, cycle);
    const now = performance.now();
    // While it plays, update panels and tables less often than the drawing and its sentences.
    if (this.player.playing && now - (this.written ?? 0) < 200) return;
    this.written = now;
    this.panel?.update(cycle);
    const step = this.run.stepAt(cycle);
    document.querySelectorAll("[data-steps] tbody tr").forEach((line, place) => line.classList.toggle("now", place + 1 === step));
    this.writeRows(cycle);
  }

  frame(cycle, share) {
    if (this.run.detailed) this.drawing.drawFlits(this.run, cycle, share, this.color);
  }

  writeRows(cycle) {
    if (!byId("rows").open || !this.run.detailed) return;
    byId("rows").lastElementChild.replaceChildren(flitsTable(this.run, this.content.network.names, this.drawing, cycle));
  }

  showChosen(what) {
    const home = byId("selected");
    if (!what) {
      home.replaceChildren(make("p", { class: "quiet" }, "Choose a node or a link in the drawing to see its words and packets."));
      return;
    }
    this.panel = what.node === undefined
      ? linkPanel(this.run, this.drawing, what.link, this.player)
      : nodePanel(this.run, this.drawing, what.node);
    home.replaceChildren(...this.panel.elements);
    this.panel.update(this.player.cycle);
  }

  /** Colours of flits follow light and dark mode; printing is light, with all parts open. */
  watchTheme() {
    const again = () => {
      this.recolor();
      this.cycle(this.player.cycle);
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    const print = matchMedia("print");
    print.addEventListener("change", () => {
      for (const each of document.querySelectorAll("details")) {
        if (print.matches && !each.open) Object.assign(each, { open: true }).dataset.closed = "";
        else if (!print.matches && "closed" in each.dataset) each.open = false;
        if (!print.matches) delete each.dataset.closed;
      }
      again();
    });
  }
}

async function open() {
  const content = await unpack(byId("data").textContent);
  document.querySelector("main").hidden = false;
  new Page(content);
  document.documentElement.dataset.ready = "";
}

open().catch((error) => {
  byId("trouble").hidden = false;
  byId("trouble").textContent = `This page cannot be shown here: ${error.message}`;
  throw error;
});
