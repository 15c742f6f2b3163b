// Plots by uPlot: the flits of each cycle, the load of a link, latencies.

const PLOT_HEIGHT = 110;
const INCREMENTS = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((each) => each * 10 ** power)).concat([25, 250, 2500]).sort((a, b) => a - b);

/** Plot steps or bars over cycles; `marks` draws on top, `onPick` gets a clicked cycle. */
function plot(home, { x, series, height = PLOT_HEIGHT, label, bars = false, marks, onPick, xLabel }) {
  home.setAttribute("role", "img");
  home.setAttribute("aria-label", label);
  const axis = { stroke: themed("--quiet"), grid: { stroke: themed("--faint"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  const path = bars ? uPlot.paths.bars({ size: [0.9, 40, 1], align: 1 }) : uPlot.paths.stepped({ align: 1 });
  const chart = new uPlot({
    width: Math.max(200, home.clientWidth),
    height,
    cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    legend: { show: false },
    scales: { x: { time: false }, y: { range: (_, least, most) => [0, Math.max(1, most)] } },
    axes: [
      { ...axis, size: 20, gap: 2, incrs: INCREMENTS, label: xLabel, labelSize: 16, labelGap: 0, labelFont: axis.font },
      { ...axis, size: 40, gap: 2, space: 24, incrs: INCREMENTS },
    ],
    series: [{}, ...series.map(({ color, fill }) => ({ stroke: color, fill, width: 1, paths: path, points: { show: false } }))],
    hooks: { draw: marks ? [(u) => marks(u)] : [] },
  }, [x, ...series.map((each) => each.values)], home);
  if (onPick) {
    const pick = (event) => {
      if (event.type === "mousemove" && !(event.buttons & 1)) return;
      onPick(Math.round(chart.posToVal(chart.cursor.left, "x")));
    };
    for (const type of ["mousedown", "mousemove"]) chart.over.addEventListener(type, pick);
  }
  return chart;
}

/** A plot that is redrawn when its container changes its width, or the colours change. */
class Plot {
  constructor(home, options) {
    Object.assign(this, { home, options });
    this.observer = new ResizeObserver(() => {
      if (this.chart && home.clientWidth) this.chart.setSize({ width: home.clientWidth, height: this.chart.height });
    });
    this.observer.observe(home);
    this.draw();
  }

  draw() {
    this.chart?.destroy();
    this.chart = plot(this.home, this.options());
  }

  mark() {
    this.chart?.redraw(false, false);
  }

  remove() {
    this.observer.disconnect();
    this.chart?.destroy();
    this.chart = null;
  }
}

/** Draw a vertical line at a cycle. */
function drawNow(u, cycle) {
  const x = Math.round(u.valToPos(cycle, "x", true));
  const { ctx } = u;
  ctx.save();
  ctx.fillStyle = themed("--accent");
  ctx.fillRect(x - devicePixelRatio, u.bbox.top, 2 * devicePixelRatio, u.bbox.height);
  ctx.restore();
}

/** Draw bands for every other step. */
function drawSteps(u, steps) {
  const { ctx } = u;
  ctx.save();
  ctx.globalCompositeOperation = "destination-over";
  ctx.fillStyle = themed("--band");
  steps.end.forEach((end, place) => {
    if (place % 2 || !end) return;
    const [left, right] = [steps.first[place], end].map((cycle) => u.valToPos(cycle, "x", true));
    ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
  });
  ctx.restore();
}

/** Plot the flits on links in each cycle, and the flits that are held up. */
function activityPlot(home, player) {
  return new Plot(home, () => {
    const { run } = player;
    const width = run.bin ?? 1;
    // Plot at most as many points as are visible: the largest value of several cycles.
    const several = Math.max(1, Math.ceil(run.moving.length / 2000));
    const most = (list) => {
      const found = [];
      for (let i = 0; i < list.length; i += several) found.push(Math.max(...list.subarray(i, i + several)));
      return found;
    };
    const moving = most(run.moving);
    const series = [{ values: moving, color: themed("--flow"), fill: themed("--flow-fill") }];
    const held = run.detailed ? most(run.held_up) : [];
    if (held.some(Boolean)) series.push({ values: held, color: themed("--red"), fill: themed("--red-fill") });
    const peak = moving.reduce((a, b) => Math.max(a, b), 0);
    return {
      x: moving.map((_, i) => i * several * width),
      series,
      height: 84,
      label: `Flits on links in each ${width === 1 ? "cycle" : `${width} cycles`}: at most ${peak}`,
      marks: (u) => { drawSteps(u, run.steps); drawNow(u, player.cycle); },
      onPick: (cycle) => player.go(width * Math.floor(cycle / width)),
    };
  });
}
