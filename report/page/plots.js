// Plots over cycles as SVG: the flits of each cycle, the load of a link, latencies.

const PLOT_HEIGHT = 76;
const MOST_BINS = 2000;
const LABELS_WIDTH = 280; // pixels of the narrowest plot, which its labels must not fill
const SHORT = new Intl.NumberFormat("en", { notation: "compact" });
const LABEL_GAP = 24; // least pixels between labels of the vertical axis

/** Return the round numbers 1, 2, 5 and 10, times the power of ten that is next below a number. */
function roundNumbers(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].map((each) => each * power);
}

/** Return round whole numbers from 0 to `most`, evenly spaced: at most `count` or two after the 0. */
function ticks(most, count) {
  const least = Math.max(1, most / count);
  const few = roundNumbers(least).find((each) => each >= least);
  const apart = Math.min(few, roundNumbers(most).findLast((each) => each <= most));
  return Array.from({ length: Math.floor(most / apart) + 1 }, (_, i) => i * apart);
}

/** Return the outline of bins that touch, from the axis up to each value and back down. */
function stairs(values, most) {
  return `M0 ${most}${values.map((value, i) => `V${most - value}H${i + 1}`).join("")}V${most}`;
}

/** Return the outline of bins with gaps between them. */
function bars(values, most) {
  return values.map((value, i) => (value ? `M${i + 0.05} ${most}V${most - value}H${i + 0.95}V${most}Z` : "")).join("");
}

/** A plot of bins of `each` cycles, from cycle 0 on: series of {values, look}, a label, and the text
 * of a bin for the pointer; optionally the axis, steps, height, bars in place of stairs, and onPick,
 * which gets a clicked cycle. A series of lines that count downwards has {path, color} instead of
 * values, and the plot has the numbers of its bins and lines. The style sheet has the colours, and horizontal places are shares of
 * the width, so that a plot follows its page without being drawn again. */
class Plot {
  constructor(home, shown) {
    const { each, series, height = PLOT_HEIGHT, label, axis, steps } = shown;
    const bins = shown.bins ?? series[0].values.length;
    const most = shown.lines ?? series.flatMap(({ values }) => values).reduce((a, b) => Math.max(a, b), 1);
    Object.assign(this, { shown, bins, height, end: bins * each });
    const outline = shown.bars ? bars : stairs;
    const lines = series.map(({ values, look, path, color }) => {
      const line = svg("path", { class: look, d: path ?? outline(values, most) });
      if (color) Object.assign(line.style, { fill: color, stroke: "none" });
      return line;
    });
    this.now = svg("g");
    this.pointed = svg("g", { class: "pointed" });
    const chart = svg("svg", { class: "chart", height: height + (axis ? 34 : 18) },
      ...(steps ? this.bands(steps) : []), ...this.grid(most),
      svg("svg", { width: "100%", height, viewBox: `0 0 ${bins} ${most}`, preserveAspectRatio: "none" }, ...lines),
      axis ? svg("text", { x: "50%", y: height + 30 }, axis) : null,
      this.now, this.pointed);
    for (const type of ["pointerdown", "pointermove"]) chart.addEventListener(type, (event) => this.point(event));
    chart.addEventListener("pointerleave", () => this.pointed.replaceChildren());
    home.setAttribute("role", "img");
    home.setAttribute("aria-label", label);
    home.replaceChildren(chart);
  }

  /** Return the share of the width before a cycle. */
  across(cycle) {
    return `${(100 * cycle) / this.end}%`;
  }

  vertical(look, cycle) {
    const x = this.across(cycle);
    return svg("line", { class: look, x1: x, x2: x, y2: this.height });
  }

  /** Return bands behind every other step. */
  bands({ first, end }) {
    return end.flatMap((after, place) => (place % 2 || !after ? [] : [
      svg("rect", { class: "band", x: this.across(first[place]), width: this.across(after - first[place]), height: this.height }),
    ]));
  }

  /** Return the lines and the numbers of both axes. */
  grid(most) {
    const widest = 10 + 7 * `${this.end}`.length;
    const cycles = ticks(this.end, Math.floor(LABELS_WIDTH / widest)).flatMap((cycle) => [
      this.vertical("grid", cycle),
      svg("text", { class: cycle > 0.95 * this.end ? "last" : null, x: this.across(cycle), y: this.height + 14 }, cycle),
    ]);
    const values = ticks(most, Math.floor(this.height / LABEL_GAP)).flatMap((value) => {
      const y = this.height * (this.shown.lines ? value / most : 1 - value / most);
      return [svg("line", { class: "grid", x2: "100%", y1: y, y2: y }), svg("text", { class: "last", x: -6, y: y + 4 }, value < 1e5 ? value : SHORT.format(value))];
    });
    return [...cycles, ...values];
  }

  /** Say what is below the pointer; a pressed pointer picks its cycle. */
  point(event) {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const bin = Math.max(0, Math.min(this.bins - 1, Math.floor((this.bins * (event.clientX - left)) / width)));
    const { each, textOf, onPick } = this.shown;
    const middle = each * (bin + 0.5);
    const [look, dx] = 2 * bin < this.bins ? ["first", 6] : ["last", -6];
    this.pointed.replaceChildren(this.vertical(null, middle), svg("text", { class: look, x: this.across(middle), dx, y: 11 }, textOf(bin)));
    if (event.type === "pointerdown" || event.buttons & 1) onPick?.(bin * each);
  }

  /** Move the line that marks the current cycle. */
  mark(cycle) {
    this.now.replaceChildren(this.vertical("now", Math.min(cycle, this.end)));
  }
}

/** Return the text of a bin of cycles: "cycle 12", "cycles 12 to 14". */
function cyclesText(bin, each) {
  return each === 1 ? `cycle ${bin}` : `cycles ${bin * each} to ${(bin + 1) * each - 1}`;
}

/** Plot the flits on links in each cycle, and the flits that are held up. */
function activityPlot(home, player, run) {
  // The cycle after the end is no cycle of the run.
  const bins = run.detailed ? run.cycles : run.moving.length;
  // Plot at most as many bins as are visible: the largest value of several cycles.
  const several = Math.max(1, Math.ceil(bins / MOST_BINS));
  const most = (list) => {
    const found = [];
    for (let i = 0; i < bins; i += several) found.push(Math.max(...list.subarray(i, Math.min(i + several, bins))));
    return found;
  };
  const moving = most(run.moving);
  const held = run.detailed ? most(run.held_up) : [];
  const jammed = held.some(Boolean);
  const each = several * (run.bin ?? 1);
  const counted = several === 1 ? "" : "at most ";
  const peak = moving.reduce((a, b) => Math.max(a, b), 0);
  const over = `${run.unit}s on links in ${run.bin > 1 ? `every ${run.bin} cycles` : "each cycle"}`;
  return new Plot(home, {
    each,
    series: [{ values: moving, look: "flow" }, ...(jammed ? [{ values: held, look: "stall" }] : [])],
    height: 62,
    label: `${over}: at most ${peak}`,
    axis: jammed ? `${over}; red: held up` : over,
    steps: run.steps,
    textOf: (bin) => `${cyclesText(bin, each)}: ${counted}${count(moving[bin], run.unit)} on links${jammed ? `, ${held[bin]} held up` : ""}`,
    onPick: (cycle) => player.go(cycle),
  });
}

const LINE_HEIGHT = 12; // pixels of a rank's line
const MOST_HEIGHT = 400;
const MOST_WORDS = 3; // names below the pointer

/** Plot what each rank of a workload does: it computes in the upper half of its line; collectives
 * and messages are in the lower half, in the colours of their kinds. */
function timelinePlot(home, player, run) {
  const { ranks, rank, begin, cycles, kind, kinds, colors, name, names } = run.timeline;
  // A dark page has lighter colours; who waits has none.
  const colorOf = (color) => (color ? `color-mix(in srgb, ${color}, white var(--whiter))` : "var(--faint)");
  const looks = [["compute", "var(--rule)"], ...kinds.map((each, number) => [each, colorOf(colors[number])])];
  const paths = looks.map(() => []);
  kind.forEach((number, bar) => {
    paths[number].push(`M${begin[bar]} ${rank[bar] + (number ? 0.5 : 0.1)}h${cycles[bar]}v.4h${-cycles[bar]}z`);
  });
  const textOf = (cycle) => {
    const found = new Set();
    kind.forEach((number, bar) => {
      if (number && begin[bar] <= cycle && cycle < begin[bar] + cycles[bar]) found.add(names[name[bar]]);
    });
    const shown = [...found].slice(0, MOST_WORDS).join(", ");
    return `cycle ${cycle}: ${shown || "no communication"}${found.size > MOST_WORDS ? ", ..." : ""}`;
  };
  const chart = make("div");
  const entries = looks.map(([text, color]) => entry(swatch(color), text));
  home.replaceChildren(chart, make("ul", { class: "legend", "aria-label": "Kinds" }, ...entries));
  return new Plot(chart, {
    each: 1,
    bins: run.cycles,
    lines: ranks,
    series: looks.map(([, color], number) => ({ path: paths[number].join(""), color })),
    height: Math.min(MOST_HEIGHT, Math.max(LINE_HEIGHT * ranks, PLOT_HEIGHT)),
    label: `What each of ${count(ranks, "rank")} does over ${count(run.cycles, "cycle")}`,
    axis: "ranks, from 0 at the top, over cycles",
    textOf,
    onPick: (cycle) => player.go(run.bin * Math.floor(cycle / run.bin)),
  });
}
