// Colours of flits and of loads; red is reserved for errors.

const VC_COLORS = ["--vc-0", "--vc-1", "--vc-2", "--vc-3", "--vc-4", "--vc-5", "--vc-6", "--vc-7"];
const STOPS = ["--from", "--middle-1", "--middle-2", "--middle-3", "--to"];

const known = new Map();
let stops = null;

/** Forget the colours of the style sheet, because light and dark mode have different ones. */
function forgetColors() {
  known.clear();
  stops = null;
}

/** The value of a colour of the style sheet, kept because a browser computes it from all styles. */
function themed(name) {
  if (!known.has(name)) known.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return known.get(name);
}

/** Return a colour from the first to the last of the gradient, for a share of 0 to 1. */
function gradient(share) {
  stops ??= STOPS.map((name) => themed(name).match(/\w\w/g).map((pair) => parseInt(pair, 16)));
  const place = Math.max(0, Math.min(1, share)) * (stops.length - 1);
  const low = Math.min(Math.floor(place), stops.length - 2);
  const mixed = stops[low].map((from, i) => Math.round(from + (place - low) * (stops[low + 1][i] - from)));
  return `rgb(${mixed.join(" ")})`;
}

/** Return a colour for a number, far from those of its neighbours, and not red. */
function hue(number) {
  return `hsl(${Math.round(40 + ((number * 0.618034) % 1) * 285)} 72% var-l)`.replace("var-l", themed("--hue-light"));
}

/** Return the ways to colour the flits of a run: {name: function from a flit to its colour}. */
function colorings(run) {
  const vcs = VC_COLORS.map(themed);
  if (run.circuits) return circuitColorings(run);
  const found = {};
  if (run.program && run.steps.end.length) {
    const last = Math.max(1, run.steps.end.length - 1);
    const shades = run.steps.end.map((_, step) => gradient(step / last));
    found.step = (flit) => shades[run.stepOf(flit) - 1] ?? themed("--quiet");
  }
  if (run.detailed) {
    found["virtual channel"] = (flit) => vcs[run.trace.vc[flit] % vcs.length];
    const cache = new Map();
    found.packet = (flit) => {
      const row = run.trace.row[flit];
      if (!cache.has(row)) cache.set(row, hue(row));
      return cache.get(row);
    };
    if (run.origins) found["origin of the data"] = originColoring(run);
  }
  return found;
}

/** Colour a flit by the node that its packet's first word comes from. */
function originColoring(run) {
  const shades = Array.from({ length: run.network.nodes }, (_, node) => gradient(node / Math.max(1, run.network.nodes - 1)));
  return (flit) => {
    const row = run.trace.row[flit];
    return row ? shades[run.origins[row - 1]] : themed("--quiet");
  };
}
