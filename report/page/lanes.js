// Links over cycles: a lane for each link, and in it every flit from its cycle on. So a packet is a
// slanted stripe, and one that waits a flat one.

const LANE_HEIGHT = 15;
const MANY_LANES = 48; // lanes that are lower and have no names
const NAMES_WIDTH = 112;
const AXIS_HEIGHT = 18;
const MOST_FOLLOWED = 1000; // packets that can be chosen by name

class Lanes {
  constructor(home, player, drawing) {
    Object.assign(this, { home, player, drawing });
    this.select = make("select", { onchange: () => this.follow(+this.select.value) });
    this.canvas = make("canvas", { tabindex: "0", role: "img", "aria-label": "Links over cycles", onkeydown: (event) => this.key(event) });
    this.mark_ = make("div", { class: "mark" });
    this.said = make("p", { class: "quiet" });
    this.view = new View(this.canvas, () => this.draw());
    for (const type of ["pointerdown", "pointermove"]) this.canvas.addEventListener(type, (event) => this.point(event));
    this.canvas.addEventListener("click", () => this.pick());
    home.append(make("label", {}, "Lanes ", this.select), make("div", { class: "lanes" }, this.canvas, this.mark_), this.said);
    new ResizeObserver(() => this.canvas.clientWidth !== this.width && this.draw()).observe(home);
    // The network comes first: lanes are filled when they are seen.
    new IntersectionObserver((entries) => {
      this.seen = entries.at(-1).isIntersecting;
      if (this.seen && this.run && !this.lines) this.fill();
    }).observe(home);
  }

  /** Show another run, whose flits have these colours. */
  use(run, color) {
    Object.assign(this, { run, color, lines: null });
    if (this.seen) this.fill();
  }

  /** Fill the lanes with the run's first packet, or with all links. */
  fill() {
    const { run } = this;
    const { program } = run;
    const found = new Set();
    for (const flit of run.byCycle) {
      if (run.trace.row[flit]) found.add(run.trace.row[flit]);
      if (found.size === MOST_FOLLOWED) break;
    }
    const rows = [...found];
    const step = (row) => (run.steps.end.length ? `, step ${program.step[row - 1]}` : "");
    this.select.replaceChildren(make("option", { value: 0 }, "all links"),
      ...rows.map((row) => make("option", { value: row }, `the way of ${run.endsOf(row)}${step(row)}`)));
    this.follow(rows[0] ?? 0);
  }

  recolor(color) {
    this.color = color;
    this.draw();
  }

  /** Show the links that a row's packet crosses, in its order; all links that are used for row 0. */
  follow(row) {
    const { run } = this;
    const { ports } = run.network;
    this.row = row;
    this.select.value = row;
    this.lines = row ? this.wayOf(row) : Array.from(run.trace.lines).filter((line) => line % ports);
    this.many = this.lines.length > MANY_LANES;
    this.height = this.many ? 7 : LANE_HEIGHT;
    this.canvas.style.height = `${this.lines.length * this.height + AXIS_HEIGHT}px`;
    this.canvas.setAttribute("aria-label", `${this.lines.length} links over ${count(run.cycles, "cycle")}`);
    const red = run.held_up.some(Boolean) ? ", red where it is held up" : "";
    this.said.textContent = run.circuits ? "A block is a word on a link. A click on a block goes to its cycle."
      : `A stripe is a packet: slanted while it moves, flat while it waits${red}. A click on a stripe goes to its cycle and follows the packet.`;
    this.view.by(0);
  }

  /** Return the outputs that a row's packet leaves by, up to its delivered tail. */
  wayOf(row) {
    const { flitLine, trace, byCycle, network } = this.run;
    const lines = new Set();
    for (const flit of byCycle) {
      if (trace.row[flit] !== row) continue;
      lines.add(flitLine[flit]);
      if (flitLine[flit] % network.ports === 0 && trace.kind[flit] & TAIL) break;
    }
    return [...lines];
  }

  nameOf(line) {
    const { ports, names } = this.run.network;
    const link = this.drawing.linkOf.get(line);
    return link === undefined ? `into ${names[Math.floor(line / ports)]}` : this.drawing.linkName(link).slice(5).replace(" to ", "→");
  }

  /** Return the visible cycles: the first one, and their number. */
  get visible() {
    return [this.view.x * this.run.cycles, this.run.cycles / this.view.zoom];
  }

  draw() {
    const { canvas, run, lines, height } = this;
    const { width } = canvas.getBoundingClientRect();
    if (!width || !lines) return;
    const scale = devicePixelRatio;
    canvas.width = width * scale;
    canvas.height = (lines.length * height + AXIS_HEIGHT) * scale;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = "11px system-ui, sans-serif";
    const [begin, cycles] = this.visible;
    const left = this.many ? 0 : NAMES_WIDTH;
    // Whole pixels, so that the flits of a packet touch.
    const across = (cycle) => Math.round(scale * (left + ((width - left) * (cycle - begin)) / cycles)) / scale;
    Object.assign(this, { left, across, width });
    const [ink, rule, red] = ["--quiet", "--faint", "--red"].map(themed);
    context.fillStyle = ink;
    context.textAlign = "center";
    for (const tick of ticks(cycles, width / 90)) {
      const cycle = Math.ceil(begin) + tick;
      context.fillText(cycle, Math.min(width - 12, across(cycle)), lines.length * height + 14);
    }
    lines.forEach((line, lane) => {
      const y = lane * height;
      context.fillStyle = rule;
      context.fillRect(left, y + height - 1, width - left, 1);
      const [from, to] = [run.first[run.lineAt.get(line)], run.first[run.lineAt.get(line) + 1]];
      for (let flit = from; flit < to; flit++) {
        const cycle = run.flitCycle[flit];
        if (cycle > begin + cycles) break;
        if (cycle + run.trace.stay[flit] >= begin) this.stripe(context, flit, y, red);
      }
      if (this.many) return;
      context.clearRect(0, y, left, height);
      context.fillStyle = ink;
      context.textAlign = "right";
      context.fillText(this.nameOf(line), left - 6, y + height - 4, left - 8);
    });
    this.mark(this.player.cycle);
  }

  /** Draw a flit: a block in its cycle on the link, and a line as long as it stays behind it. */
  stripe(context, flit, y, red) {
    const { run, height, across } = this;
    const [cycle, stay, held] = [run.flitCycle[flit], run.trace.stay[flit], run.trace.stalled[flit]];
    const flight = run.flights[run.flitLine[flit]];
    context.globalAlpha = !this.row || run.trace.row[flit] === this.row ? 1 : 0.35;
    context.fillStyle = this.color(flit);
    context.fillRect(across(cycle), y + 1, Math.max(0.5, across(cycle + flight) - across(cycle)), height - 3);
    if (run.flitLine[flit] % run.network.ports) {
      context.fillRect(across(cycle + flight), y + height / 2 - 1, across(cycle + stay) - across(cycle + flight), 2);
      if (held) {
        context.fillStyle = red;
        context.fillRect(across(cycle + stay - held), y + height / 2 - 2, across(cycle + stay) - across(cycle + stay - held), 4);
      }
    }
    context.globalAlpha = 1;
  }

  /** Return the line, the cycle and the flit under the pointer. */
  under(event) {
    const { left, top, width } = this.canvas.getBoundingClientRect();
    const [begin, cycles] = this.visible;
    const cycle = Math.floor(begin + (cycles * (event.clientX - left - this.left)) / (width - this.left));
    const line = this.lines[Math.floor((event.clientY - top) / this.height)];
    const { run } = this;
    if (line === undefined || cycle < 0 || cycle >= run.cycles) return null;
    const place = run.lineAt.get(line);
    const last = above(run.flitCycle, cycle, run.first[place], run.first[place + 1]) - 1;
    const there = last >= run.first[place] && cycle < run.flitCycle[last] + Math.max(1, run.trace.stay[last]);
    return { line, cycle, flit: there ? last : null };
  }

  point(event) {
    const found = this.under(event);
    this.found = found;
    if (!found) return;
    const { run } = this;
    const row = found.flit === null ? 0 : run.trace.row[found.flit];
    const what = found.flit === null ? "nothing" : row ? `${["body", "head", "tail", "single flit"][run.trace.kind[found.flit]]} of ${run.endsOf(row)}` : run.word(found.flit);
    this.said.textContent = `${this.nameOf(found.line)}, cycle ${found.cycle}: ${what}`;
  }

  /** Go to the cycle under the pointer, whose place is more exact than that of the click. */
  pick() {
    const { found } = this;
    if (!found) return;
    this.player.go(found.cycle);
    const row = found.flit === null ? 0 : this.run.trace.row[found.flit];
    if (row && row !== this.row) this.follow(row);
  }

  key(event) {
    const way = { ArrowLeft: -0.2, ArrowRight: 0.2 }[event.key];
    if (way && this.view.zoom > 1) this.view.move(way, 0);
    else if (!this.view.key(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Move the line that marks the current cycle. */
  mark(cycle) {
    if (!this.lines || !this.across) return;
    const at = this.across(cycle + 0.5);
    this.mark_.hidden = at < this.left || at > this.width;
    this.mark_.style.left = `${at}px`;
  }
}
