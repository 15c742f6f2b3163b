// The network as SVG, its changes by cycle, and the flits on a canvas above it.

const CELL = 100; // units of the SVG
const NODE = 46;
const LANE = 9; // offset of each direction of a link, right of its middle
const SVG = "http://www.w3.org/2000/svg";
const MOST_NAMED = 300; // most nodes with visible names
const LEAST_TEXT = 9.2; // pixels of a node's name
const ADVANCE = 0.6; // width of a digit, in font sizes
const WIDEST = 1.35 * NODE; // width of a node from which its name is broken

/** Make an element with attributes, children and text; never from markup. */
function make(tag, attributes = {}, ...children) {
  const element = attributes.svg
    ? document.createElementNS(SVG, tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "svg" || value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const svg = (tag, attributes = {}, ...children) => make(tag, { svg: true, ...attributes }, ...children);

/** A drawn link: points right of its middle, and the position of a flit on it. */
class Way {
  constructor(curves) {
    this.curves = curves.map((curve) => besides(curve, LANE));
    this.pieces = [];
    this.length = 0;
    for (const curve of this.curves) {
      for (let i = 1; i < curve.length; i++) {
        const [from, to] = [curve[i - 1], curve[i]];
        const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
        this.pieces.push({ from, to, at: this.length, length });
        this.length += length;
      }
    }
  }

  get path() {
    return this.curves.map((curve) => "M" + curve.map((p) => p.map(rounded).join(" ")).join("L")).join("");
  }

  /** Length at either end that the nodes cover. */
  get margin() {
    return Math.min(NODE / 2 + 7, this.length / 3);
  }

  /** The visible part, from node to node, as a canvas path. */
  get shape() {
    const shape = new Path2D();
    for (const { from, to, at, length } of this.pieces) {
      const ends = [Math.max(0, this.margin - at), Math.min(length, this.length - this.margin - at)];
      if (ends[0] >= ends[1]) continue;
      ends.forEach((end, i) => {
        const point = from.map((value, axis) => value + (end / length) * (to[axis] - value));
        shape[i ? "lineTo" : "moveTo"](...point);
      });
    }
    Object.defineProperty(this, "shape", { value: shape });
    return shape;
  }

  /** Return position and direction for a share from the leaving node (0) to the entered node (1). */
  at(share) {
    const along = this.margin + share * (this.length - 2 * this.margin);
    const piece = this.pieces.find((each) => along <= each.at + each.length) ?? this.pieces.at(-1);
    const t = piece.length ? (along - piece.at) / piece.length : 0;
    const [x, y] = [0, 1].map((axis) => piece.from[axis] + t * (piece.to[axis] - piece.from[axis]));
    return { x, y, angle: Math.atan2(piece.to[1] - piece.from[1], piece.to[0] - piece.from[0]) };
  }
}

/** Return a name in lines of at most this many letters; coordinates break after a comma. */
function broken(name, most) {
  if (name.length <= most) return [name];
  const comma = name.lastIndexOf(",", most - 1);
  const at = comma < 0 ? Math.ceil(name.length / 2) : comma + 1;
  return [name.slice(0, at), name.slice(at)];
}

const rounded = (number) => Math.round(10 * number) / 10;

/** Return the points of a curve, moved to its right. */
function besides(curve, lane) {
  const normals = curve.slice(1).map((to, i) => {
    const [dx, dy] = [to[0] - curve[i][0], to[1] - curve[i][1]];
    const length = Math.hypot(dx, dy) || 1;
    return [-dy / length, dx / length];
  });
  return curve.map((point, i) => {
    const [one, other] = [normals[Math.max(0, i - 1)], normals[Math.min(i, normals.length - 1)]];
    return point.map((value, axis) => value + (lane * (one[axis] + other[axis])) / 2);
  });
}

class Drawing {
  constructor(stage, network, onChoose) {
    this.network = network;
    this.onChoose = onChoose;
    this.svg = stage.querySelector("svg");
    this.canvas = stage.querySelector("canvas");
    this.stage = stage;
    this.points = network.points.map((point) => point.map((value) => CELL * value));
    this.linkOf = new Map();
    this.parallel = new Map();
    this.readLinks(network.links);
    this.outline();
    this.slow = slowLinks(network);
    this.drawParts();
    this.links = this.drawLinks();
    this.nodes = this.drawNodes();
    this.writeTexts();
    this.fills = new Float64Array(network.nodes).fill(-1);
    this.chosen = null;
    this.focused = this.nodes[0];
    this.focused?.setAttribute("tabindex", "0");
    this.view = new View(this.svg, () => this.showView());
    this.svg.addEventListener("keydown", (event) => this.key(event));
    // A click chooses, and leaves the keyboard to the time.
    this.svg.addEventListener("mousedown", (event) => event.preventDefault());
    new ResizeObserver(() => { this.resize(); this.redraw?.(); }).observe(stage);
  }

  readLinks({ from, port, to, faulty, curves }) {
    this.ways = Array.from(from, (node, link) => {
      const points = curves[link] ?? [[this.network.points[node], this.network.points[to[link]]]];
      const way = new Way(points.map((curve) => curve.map((point) => point.map((v) => CELL * v))));
      const line = node * this.network.ports + port[link];
      this.linkOf.set(line, link);
      const pair = `${node} ${to[link]}`;
      this.parallel.set(pair, (this.parallel.get(pair) ?? 0) + 1);
      return Object.assign(way, { from: node, to: to[link], port: port[link], line, faulty: !!faulty[link] });
    });
  }

  /** Set the corners of the drawing, with space for the texts beside it. */
  outline() {
    const outer = (across) => this.network.rulers.filter((each) => each.across === across).length;
    // A larger network needs larger coordinates.
    const across = CELL * (this.network.high[0] - this.network.low[0]);
    this.text = 19 * Math.max(1, Math.min(3, across / 900));
    const [x, y] = this.network.low.map((value, axis) => CELL * value - 10 - 1.8 * this.text * outer(axis === 1));
    const [right, bottom] = this.network.high.map((value, axis) => Math.max(CELL * value + 10, this.nameAt(axis === 0) + 0.7 * this.text));
    this.box = this.seen = { x, y, width: right - x, height: bottom - y };
    this.svg.setAttribute("viewBox", `${x} ${y} ${right - x} ${bottom - y}`);
    this.stage.style.setProperty("--aspect", (right - x) / (bottom - y));
    // If the drawing is much wider than high, put the panels below it.
    document.querySelector("main").classList.toggle("wide", right - x > 1.9 * (bottom - y));
    // A small network does not fill the width of the window.
    this.stage.style.setProperty("--widest", `${Math.round(1.6 * (right - x))}px`);
    this.svg.setAttribute("aria-label", `${this.network.label}: ${this.network.nodes} nodes`);
  }

  /** Return the position of the innermost axis name in one direction: after its last coordinate. */
  nameAt(across) {
    const ruler = this.network.rulers.find((each) => each.across === across && each.level === 0);
    const margin = CELL * this.network.high[across ? 0 : 1] - 0.6 * this.text;
    return ruler ? Math.max(margin, CELL * Math.max(...ruler.at) + 1.3 * this.text) : 0;
  }

  /** Outline the parts of the network that slow links join, such as chiplets. */
  drawParts() {
    const part = this.points.map((_, node) => node);
    const of = (node) => (part[node] === node ? node : (part[node] = of(part[node])));
    this.ways.forEach((way, link) => { if (!this.slow.has(link)) part[of(way.from)] = of(way.to); });
    const parts = Map.groupBy(part.keys(), of);
    if (parts.size === 1 || parts.size === part.length) return;
    const group = svg("g", { "aria-hidden": "true" });
    for (const nodes of parts.values()) {
      const [xs, ys] = [0, 1].map((axis) => nodes.map((node) => this.points[node][axis]));
      const [x, y] = [Math.min(...xs), Math.min(...ys)];
      group.append(svg("rect", { class: "part", x: x - 36, y: y - 36, width: Math.max(...xs) - x + 72, height: Math.max(...ys) - y + 72, rx: 14 }));
    }
    this.svg.append(group);
  }

  drawLinks() {
    const group = svg("g", { class: "links" });
    const links = this.ways.map((way, number) => {
      const name = this.linkName(number);
      const element = svg("g", {
        class: `link${way.faulty ? " faulty" : ""}${this.slow.has(number) ? " slow" : ""}`, role: "button", tabindex: "-1",
        "aria-label": way.faulty ? `${name}, broken` : name, "data-link": number,
        onclick: () => this.choose({ link: number }),
      }, svg("title", {}, name), svg("path", { class: "hit", d: way.path }), svg("path", { class: "line", d: way.path }));
      group.append(element);
      return element;
    });
    this.svg.append(group);
    return links;
  }

  drawNodes() {
    const group = svg("g", { class: "nodes" });
    const named = this.network.nodes <= MOST_NAMED;
    const half = NODE / 2;
    this.longest = 0;
    const nodes = this.points.map(([x, y], node) => {
      const name = this.network.names[node];
      const faulty = this.network.faulty_nodes.includes(node);
      const host = node === this.network.host;
      const isSwitch = this.network.switches.includes(node);
      const kind = faulty ? ", broken" : isSwitch ? ", a switch" : "";
      const text = name.replace(/[()]/g, "");
      this.longest = Math.max(this.longest, text.length);
      const element = svg("g", {
        class: `node${faulty ? " faulty" : ""}${host ? " host" : ""}${isSwitch ? " switch" : ""}`, role: "button", tabindex: "-1",
        "aria-label": `Node ${name}${kind}`, "data-node": node, "data-kind": kind,
        transform: `translate(${rounded(x)} ${rounded(y)})`, onclick: () => this.choose({ node }),
      },
      // A node with a visible name needs no other.
      svg("title", {}, named && !faulty ? "" : `Node ${name}`),
      svg("rect", { class: "box", x: -half, y: -half, width: NODE, height: NODE, rx: host ? half : 9 }),
      svg("rect", { class: "fill", x: -half + 4, y: half - 4, width: NODE - 8, height: 0, rx: host ? half - 4 : 5 }),
      faulty ? svg("path", { class: "cross", d: "M-11-11L11 11M11-11L-11 11" }) : null,
      named && !faulty ? svg("text", { "aria-hidden": "true" }, text) : null,
      svg("circle", { class: "alarm", cx: half - 3, cy: -half + 3, r: 8 }));
      group.append(element);
      return element;
    });
    this.svg.append(group);
    return nodes;
  }

  /** Write names that are legible at this scale: in two lines or wider nodes where they need it. */
  fitNames(pixels) {
    const font = Math.max(this.longest > 5 ? 10 : 15, LEAST_TEXT / pixels);
    const most = this.longest > 3 && ADVANCE * this.longest * font > WIDEST ? Math.ceil((this.longest + 1) / 2) : this.longest;
    const wide = Math.max(NODE, ADVANCE * most * font + 4);
    for (const element of this.nodes) {
      const [, box, fill] = element.children;
      box.setAttribute("x", -wide / 2);
      box.setAttribute("width", wide);
      fill.setAttribute("x", 4 - wide / 2);
      fill.setAttribute("width", wide - 8);
      const name = element.querySelector("text");
      if (!name) continue;
      const lines = broken(name.textContent, most);
      const spans = lines.map((line, i) => svg("tspan", { x: 0, dy: `${i ? 1 : (1 - lines.length) / 2}em` }, line));
      name.replaceChildren(...spans);
      name.style.fontSize = `${font}px`;
    }
  }

  /** Write the coordinates beside a grid, the innermost axis next to it. */
  writeTexts() {
    const group = svg("g", { class: "rulers", "aria-hidden": "true" });
    const [left, top] = this.network.low.map((value) => CELL * value);
    for (const ruler of this.network.rulers) {
      const away = -0.6 * this.text - 1.8 * this.text * ruler.level;
      const write = (at, text, name) => {
        const [x, y] = ruler.across ? [at, top + away] : [left + away, at];
        // Turn a long text beside the drawing, which would otherwise leave it.
        const turn = !ruler.across && ruler.level ? `rotate(-90 ${x} ${y})` : null;
        group.append(svg("text", { x, y, class: name, transform: turn, "font-size": this.text }, text));
      };
      ruler.at.forEach((at, i) => write(CELL * at, ruler.texts[i], null));
      if (ruler.level === 0) {
        const end = this.nameAt(ruler.across);
        if (ruler.name.length === 1) write(end, ruler.name, "axis");
        else group.append(svg("text", { x: ruler.across ? end : left, y: ruler.across ? top + away : end, class: `axis ${ruler.across ? "last" : "first"}`, "font-size": this.text }, ruler.name));
      }
    }
    this.svg.append(group);
  }

  linkName(number) {
    const way = this.ways[number];
    const twin = this.parallel.get(`${way.from} ${way.to}`) > 1;
    const names = this.network.names;
    return `Link ${names[way.from]} to ${names[way.to]}${twin ? ` by port ${way.port}` : ""}`;
  }

  /** Choose a node or a link: {node}, {link}, or null for none. */
  choose(what) {
    for (const element of this.svg.querySelectorAll(".chosen")) {
      element.classList.remove("chosen");
      element.removeAttribute("aria-current");
    }
    const element = this.elementOf(what);
    element?.classList.add("chosen");
    element?.setAttribute("aria-current", "true");
    if (element) this.focus(element, false);
    this.chosen = what;
    this.onChoose(what);
  }

  elementOf(what) {
    if (!what) return null;
    return what.node === undefined ? this.links[what.link] : this.nodes[what.node];
  }

  focus(element, moved = true) {
    this.focused.setAttribute("tabindex", "-1");
    element.setAttribute("tabindex", "0");
    this.focused = element;
    if (moved) element.focus();
  }

  key(event) {
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const { node, link } = this.focused.dataset;
    if (event.key === "Enter" || event.key === " ") {
      this.choose(node === undefined ? { link: +link } : { node: +node });
    } else if (ways[event.key] && node !== undefined) {
      const found = event.shiftKey ? this.linkTowards(+node, ways[event.key]) : this.nodeTowards(+node, ways[event.key]);
      if (found) this.focus(found);
    } else if (ways[event.key]) {
      const way = this.ways[+link];
      const [a, b] = [this.points[way.from], this.points[way.to]];
      const ahead = (b[0] - a[0]) * ways[event.key][0] + (b[1] - a[1]) * ways[event.key][1];
      this.focus(this.nodes[ahead > 0 ? way.to : way.from]);
    } else if (!this.view.key(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Return the nearest node in a direction; distance aside counts double. */
  nodeTowards(node, [dx, dy]) {
    const [x, y] = this.points[node];
    let best = null;
    let least = Infinity;
    this.points.forEach(([a, b], other) => {
      const ahead = (a - x) * dx + (b - y) * dy;
      const aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
      if (ahead > 1 && ahead + 2 * aside < least) {
        least = ahead + 2 * aside;
        best = this.nodes[other];
      }
    });
    return best;
  }

  /** Return the outgoing link of a node that is closest to a direction. */
  linkTowards(node, [dx, dy]) {
    let best = null;
    let most = 0.3;
    this.ways.forEach((way, number) => {
      if (way.from !== node) return;
      const { angle } = way.at(0);
      const along = Math.cos(angle) * dx + Math.sin(angle) * dy;
      if (along > most) {
        most = along;
        best = this.links[number];
      }
    });
    return best;
  }

  /** Show how full each node is, which nodes have set flags, and which links hold up flits. */
  show(run, cycle, heat) {
    for (let node = 0; node < this.network.nodes; node++) {
      const share = run.share(node, cycle) ?? 0;
      if (share === this.fills[node]) continue;
      this.fills[node] = share;
      const [, , fill] = this.nodes[node].children;
      const height = share * (NODE - 8);
      fill.setAttribute("height", height);
      fill.setAttribute("y", NODE / 2 - 4 - height);
      this.nodes[node].classList.toggle("full", share === 1);
    }
    const stalled = new Set();
    for (const flit of run.flitsThere(cycle)) {
      if (run.isStalled(flit, cycle)) stalled.add(this.linkOf.get(run.flitLine[flit]));
    }
    for (const link of this.stalled ?? []) if (!stalled.has(link)) this.links[link].classList.remove("stalled");
    for (const link of stalled) this.links[link]?.classList.add("stalled");
    this.stalled = new Set([...stalled].filter((link) => link !== undefined));
    const waits = run.isDeadlocked(cycle) ? run.deadlock.waits : [];
    const circle = new Set(waits.map(({ held }) => this.linkOf.get(held[0])));
    if (circle.size || this.circling) this.links.forEach((link, number) => link.classList.toggle("circle", circle.has(number)));
    this.circling = circle.size > 0;
    this.showHeat(run, cycle, heat);
  }

  showRun(run) {
    this.bars?.remove();
    this.bars = svg("g", { "aria-hidden": "true" }, ...Array.from(run.datelines, (line) => {
      const { x, y, angle } = this.ways[this.linkOf.get(line)].at(0.5);
      const [dx, dy] = [-20 * Math.sin(angle), 20 * Math.cos(angle)];
      return svg("line", { class: "dateline", x1: x - dx, y1: y - dy, x2: x + dx, y2: y + dy });
    }));
    this.svg.append(this.bars);
    this.nodes.forEach((element, node) => {
      element.classList.toggle("root", node === run.root);
      element.classList.toggle("idle", run.isIdle(node));
      element.classList.toggle("flagged", String(node) in run.flags);
      const root = node === run.root ? ", the root" : "";
      const has = run.flags[node] ? `, error flags ${run.flags[node].join(", ")}` : "";
      element.setAttribute("aria-label", `Node ${this.network.names[node]}${root}${element.dataset.kind}${has}`);
    });
    this.most = Math.max(1, ...this.ways.map((way) => run.load(way.line, run.cycles)));
  }

  /** Colour links by load: "until" the cycle, of the "whole" run, in its "bin"; "plain" for none. */
  showHeat(run, cycle, heat) {
    if (heat === "plain" && this.heat === "plain") return;
    this.heat = heat;
    const until = { until: cycle, whole: run.cycles }[heat];
    const largest = heat === "bin" ? run.bin : this.most;
    this.ways.forEach((way, number) => {
      const line = this.links[number].lastChild;
      const load = heat === "plain" ? 0 : heat === "bin" ? run.load(way.line, cycle + run.bin) - run.load(way.line, cycle) : run.load(way.line, until);
      line.style.stroke = load ? gradient(load / largest) : "";
      line.style.strokeWidth = load ? 3 + 9 * (load / largest) : "";
    });
  }

  /** Show the visible part of the drawing, and the flits in it. */
  showView() {
    const { x, y, zoom } = this.view;
    const [width, height] = [this.box.width / zoom, this.box.height / zoom];
    this.seen = { x: this.box.x + x * this.box.width, y: this.box.y + y * this.box.height, width, height };
    this.svg.setAttribute("viewBox", `${this.seen.x} ${this.seen.y} ${width} ${height}`);
    this.resize();
    this.redraw?.();
  }

  resize() {
    const { width } = this.svg.getBoundingClientRect();
    this.scale = (width * devicePixelRatio) / this.seen.width;
    this.canvas.width = Math.round(this.seen.width * this.scale);
    this.canvas.height = Math.round(this.seen.height * this.scale);
    if (width) this.fitNames(width / this.seen.width);
  }

  /** Draw the flits of a cycle after a `share` of it; `color` returns the colour of each flit. */
  drawFlits(run, cycle, share, color) {
    const context = this.canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (!this.scale) return;
    context.setTransform(this.scale, 0, 0, this.scale, -this.seen.x * this.scale, -this.seen.y * this.scale);
    const [ink, red] = [themed("--paper"), themed("--red")];
    const size = Math.max(10, Math.min(13, 7 / (this.scale / devicePixelRatio)));
    const there = run.flitsThere(cycle);
    run.circuits?.draw(context, this, cycle, color);
    for (const flit of run.holding(cycle)) this.drawWay(context, run.flitLine[flit], color(flit));
    for (const flit of there) {
      const way = this.ways[this.linkOf.get(run.flitLine[flit])];
      if (!way) continue;
      const since = cycle - run.flitCycle[flit];
      const flight = run.flights[run.flitLine[flit]];
      const waits = since >= flight;
      const place = way.at(waits ? 1 : 0.08 + (0.84 * (since + share)) / flight);
      drawFlit(context, place, run.trace.kind[flit], size, color(flit), ink);
      if (run.isStalled(flit, cycle)) drawRing(context, place, size, red);
    }
  }

  /** Mark a link as held, in the colour of the packet that holds it. */
  drawWay(context, line, color) {
    const way = this.ways[this.linkOf.get(line)];
    if (!way) return;
    context.globalAlpha = 0.45;
    context.strokeStyle = color;
    context.lineWidth = 6;
    context.stroke(way.shape);
    context.globalAlpha = 1;
  }
}

/** Draw a flit: body round, head pointed, tail square; a single flit pointed and square. */
function drawFlit(context, { x, y, angle }, kind, size, color, ink) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const at = (along, aside) => [x + size * (along * cos - aside * sin), y + size * (along * sin + aside * cos)];
  const shapes = {
    1: [[1.7, 0], [-0.8, 1.25], [-0.3, 0], [-0.8, -1.25]],
    2: [[0.85, 0.95], [-0.85, 0.95], [-0.85, -0.95], [0.85, -0.95]],
    3: [[1.7, 0], [0.2, 1.15], [-0.95, 1.15], [-0.95, -1.15], [0.2, -1.15]],
  };
  context.beginPath();
  if (shapes[kind]) {
    shapes[kind].forEach((point, i) => context[i ? "lineTo" : "moveTo"](...at(...point)));
    context.closePath();
  } else context.arc(x, y, 0.85 * size, 0, 2 * Math.PI);
  context.fillStyle = color;
  context.strokeStyle = ink;
  context.lineWidth = 1.5;
  context.fill();
  context.stroke();
}

function drawRing(context, { x, y }, size, color) {
  context.beginPath();
  context.arc(x, y, 2 * size, 0, 2 * Math.PI);
  context.strokeStyle = color;
  context.lineWidth = 3.5;
  context.stroke();
}
