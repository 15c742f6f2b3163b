// Circuits (docs/router.md, section 23): the words of a run, each with its origin and its parts.

const TO_ROUTER = 2; // cycles from an entry's first cycle until its router moves words
const UNKNOWN = -1;
const MEMORY = -2; // and below: MEMORY - address

class Circuits {
  constructor(run) {
    const { network, run_tables } = run;
    Object.assign(this, { run, network, table: run_tables });
    const entries = run_tables.duration.length;
    this.allPort = run_tables.ejections.length > 0;
    this.lanes = entries ? run_tables.send_address.length / entries : 1;
    this.begins = new Float64Array(entries);
    for (let node = 0; node < network.nodes; node++) {
      let cycle = TO_ROUTER;
      for (let entry = run_tables.first_entry[node]; entry < run_tables.first_entry[node + 1]; entry++) {
        this.begins[entry] = cycle;
        cycle += run_tables.duration[entry];
      }
    }
    const { from, port, to, peer } = network.links;
    this.enters = new Map(Array.from(from, (node, link) => [to[link] * network.ports + peer[link], node * network.ports + port[link]]));
    this.trace();
  }

  /** Return the entry of a node that is current in a cycle, or UNKNOWN. */
  entryAt(node, cycle) {
    const { first_entry, duration } = this.table;
    const entry = above(this.begins, cycle, first_entry[node], first_entry[node + 1]) - 1;
    return entry >= first_entry[node] && cycle < this.begins[entry] + duration[entry] ? entry : UNKNOWN;
  }

  /** Find for each flit its one or two sources, its sender, and where a delivered one is written. */
  trace() {
    const { flitLine, flitCycle } = this.run;
    const rows = flitLine.length;
    [this.first, this.second] = [0, 1].map(() => new Int32Array(rows).fill(UNKNOWN));
    this.entry = new Int32Array(rows).fill(UNKNOWN);
    this.lane = new Uint8Array(rows);
    this.sender = new Int32Array(rows).fill(UNKNOWN);
    this.address = new Int32Array(rows).fill(UNKNOWN);
    for (let flit = 0, same = 0; flit < rows; flit++) {
      const [node, port] = this.placeOf(flit);
      same = flit && flitLine[flit] === flitLine[flit - 1] && flitCycle[flit] === flitCycle[flit - 1] ? same + 1 : 0;
      if (this.allPort && !port) this.traceEjected(flit, node, same);
      else this.traceOutput(flit, node, port);
    }
    this.run.byCycle.forEach((flit) => this.traceSender(flit));
    this.most = this.address.reduce((a, b) => Math.max(a, b), 1);
    this.senders = new Set(this.sender);
    this.earliest = rows ? this.run.flitCycle[this.run.byCycle[0]] : this.run.cycles;
  }

  placeOf(flit) {
    const line = this.run.flitLine[flit];
    return [Math.floor(line / this.network.ports), line % this.network.ports];
  }

  traceOutput(flit, node, port) {
    const { codes, operator } = this.table;
    const { ports } = this.network;
    const cycle = this.run.flitCycle[flit];
    const [now, before] = [0, 1].map((ago) => this.entryAt(node, cycle - TO_ROUTER - ago));
    if (before >= 0 && operator[before] && codes[before * ports + port] === 1 + port && !(this.allPort && !port)) {
      this.join(flit, node, before, 0);
    } else if (now >= 0) {
      this.entry[flit] = now;
      this.first[flit] = this.input(node, codes[now * ports + port], cycle, now, this.allPort ? port - 1 : 0);
    }
  }

  /** Trace a word of an ejection port: the deliveries of one cycle are in the order of the lanes. */
  traceEjected(flit, node, place) {
    const { ejections, operator } = this.table;
    const cycle = this.run.flitCycle[flit];
    const [now, before] = [0, 1].map((ago) => this.entryAt(node, cycle - TO_ROUTER - ago));
    for (let lane = 0, seen = 0; lane < this.lanes; lane++) {
      const sum = before >= 0 && operator[before] && ejections[before * this.lanes + lane] === 2;
      if (!sum && !(now >= 0 && ejections[now * this.lanes + lane] === 1)) continue;
      if (seen++ < place) continue;
      if (sum) this.join(flit, node, before, lane);
      else {
        [this.entry[flit], this.lane[flit]] = [now, lane];
        this.first[flit] = this.input(node, lane + 2, cycle, now, lane);
      }
      return;
    }
  }

  join(flit, node, entry, lane) {
    [this.entry[flit], this.lane[flit]] = [entry, lane];
    const cycle = this.run.flitCycle[flit] - 1;
    [this.first[flit], this.second[flit]] = [this.table.first, this.table.second].map((code) => this.input(node, code[entry], cycle, entry, 0));
  }

  /** Return the source of an input that a code names, in a cycle of its register. */
  input(node, code, cycle, entry, lane) {
    if (code === 0) return UNKNOWN;
    if (code === 1) return MEMORY - this.table.send_address[entry * this.lanes + lane] - (cycle - TO_ROUTER - this.begins[entry]);
    const place = this.run.lineAt.get(this.enters.get(node * this.network.ports + code - 1));
    if (place === undefined) return UNKNOWN;
    const { flitCycle, first } = this.run;
    const left = cycle - this.run.flights[this.enters.get(node * this.network.ports + code - 1)];
    const flit = above(flitCycle, left, first[place], first[place + 1]) - 1;
    return flit >= first[place] && flitCycle[flit] === left ? flit : UNKNOWN;
  }

  traceSender(flit) {
    const source = this.first[flit];
    if (source <= MEMORY) [this.sender[flit], this.address[flit]] = [this.placeOf(flit)[0], MEMORY - source];
    else if (source >= 0) [this.sender[flit], this.address[flit]] = [this.sender[source], this.address[source]];
  }

  /** Return the address at which a delivered word is written; UNKNOWN for none. */
  writtenAt(flit) {
    const entry = this.entry[flit];
    if (entry < 0) return UNKNOWN;
    const at = entry * this.lanes + this.lane[flit];
    const passed = this.run.flitCycle[flit] - TO_ROUTER - (this.second[flit] === UNKNOWN ? 0 : 1) - this.begins[entry];
    return this.table.receive[at] ? this.table.receive_address[at] + passed : UNKNOWN;
  }

  /** Return pairs of an address of a node and the cycle at whose end a word is written there. */
  writesOf(node) {
    const { lineAt, first, flitCycle } = this.run;
    const place = lineAt.get(node * this.network.ports);
    const found = [];
    for (let flit = first[place] ?? 0; flit < (first[place + 1] ?? 0); flit++) {
      const address = this.writtenAt(flit);
      if (address !== UNKNOWN) found.push([address, flitCycle[flit] + this.network.write_delay]);
    }
    return found;
  }

  /** Count the contributions in each word, and how many more a delivered one brings its node. */
  combine({ size, marks }) {
    const memory = new Map(); // of each written word: cycles and contributions, in turn
    const held = (node, address, cycle) => {
      const changes = memory.get(node * size + address) ?? [];
      for (let i = changes.length - 2; i >= 0; i -= 2) if (changes[i] < cycle) return changes[i + 1];
      return marks[node * size + address] >> 1;
    };
    const rows = this.first.length;
    [this.parts, this.gains] = [0, 1].map(() => new Int32Array(rows));
    this.run.byCycle.forEach((flit) => {
      const [node, port] = this.placeOf(flit);
      const cycle = this.run.flitCycle[flit];
      const joined = this.second[flit] !== UNKNOWN;
      for (const source of [this.first[flit], this.second[flit]]) {
        if (source >= 0) this.parts[flit] += this.parts[source];
        else if (source <= MEMORY) this.parts[flit] += held(node, MEMORY - source, cycle - TO_ROUTER - joined);
      }
      const address = port ? UNKNOWN : this.writtenAt(flit);
      if (address === UNKNOWN) return;
      const combines = this.table.receive[this.entry[flit] * this.lanes + this.lane[flit]] > 1;
      const before = held(node, address, cycle);
      const after = this.parts[flit] + (combines ? before : 0);
      const key = node * size + address;
      if (!memory.has(key)) memory.set(key, []);
      memory.get(key).push(cycle + this.network.write_delay, after);
      if (marks[key] & 1) this.gains[flit] = after - before;
    });
  }

  /** Return the flits that leave routers in a cycle by their common source: several are a fork. */
  forks(cycle) {
    const groups = new Map();
    for (const flit of this.run.flitsOf(cycle)) {
      if (this.first[flit] === UNKNOWN) continue;
      const key = `${this.placeOf(flit)[0]} ${this.first[flit]} ${this.second[flit]}`;
      groups.set(key, [...(groups.get(key) ?? []), flit]);
    }
    return [...groups.values()].filter((flits) => flits.length > 1);
  }

  /** Return the sums that leave routers in a cycle. */
  sums(cycle) {
    return Array.from(this.run.flitsOf(cycle)).filter((flit) => this.second[flit] !== UNKNOWN);
  }

  /** Draw in each router the ways of the words that it moves or joins in a cycle. */
  draw(context, drawing, cycle, color) {
    for (const flit of this.run.flitsOf(cycle)) this.drawWays(context, drawing, flit, color);
    for (const flit of this.sums(cycle + 1)) this.drawWays(context, drawing, flit, color);
  }

  drawWays(context, drawing, flit, color) {
    const [node, port] = this.placeOf(flit);
    const centre = drawing.points[node];
    const way = port ? drawing.ways[drawing.linkOf.get(this.run.flitLine[flit])] : null;
    const sources = [this.first[flit], this.second[flit]].filter((source) => source !== UNKNOWN);
    const out = way?.at(0);
    for (const source of sources) {
      const from = source >= 0 ? drawing.ways[drawing.linkOf.get(this.run.flitLine[source])]?.at(1) : null;
      drawTurn(context, from, out, centre, color(source >= 0 ? source : flit), sources.length > 1);
    }
    if (sources.length > 1) drawPlus(context, out ?? { x: centre[0], y: centre[1] }, color(flit));
  }
}

/** Draw a word's way through a node; without `from` it begins in the node, without `to` it ends there. */
function drawTurn(context, from, to, centre, color, joins) {
  const inside = (edge) => ({ x: centre[0] + 0.5 * (edge.x - centre[0]), y: centre[1] + 0.5 * (edge.y - centre[1]) });
  const end = to ?? (joins ? { x: centre[0], y: centre[1] } : from && inside(from));
  const begin = from ?? (end && inside(end));
  if (!begin) return;
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = 5;
  context.beginPath();
  context.moveTo(begin.x, begin.y);
  const corner = from && to ? crossing(from, to) : null;
  if (corner) context.quadraticCurveTo(corner.x, corner.y, end.x, end.y);
  else context.lineTo(end.x, end.y);
  context.stroke();
  const dot = from ? (to || joins ? null : end) : begin;
  if (!dot) return;
  context.beginPath();
  context.arc(dot.x, dot.y, 5, 0, 2 * Math.PI);
  context.fill();
}

/** Return where the line into a node meets the line out of it; null if they are parallel. */
function crossing(from, to) {
  const turn = Math.sin(to.angle - from.angle);
  if (Math.abs(turn) < 0.2) return null;
  const along = (Math.sin(to.angle) * (to.x - from.x) - Math.cos(to.angle) * (to.y - from.y)) / turn;
  return { x: from.x + along * Math.cos(from.angle), y: from.y + along * Math.sin(from.angle) };
}

/** Draw the sign of a sum, where two words become one. */
function drawPlus(context, { x, y }, color) {
  context.beginPath();
  context.arc(x, y, 9, 0, 2 * Math.PI);
  context.fillStyle = color;
  context.strokeStyle = themed("--paper");
  context.lineWidth = 2;
  context.fill();
  context.stroke();
  context.beginPath();
  context.moveTo(x - 5, y);
  context.lineTo(x + 5, y);
  context.moveTo(x, y - 5);
  context.lineTo(x, y + 5);
  context.stroke();
}

/** Return the ways to colour words of circuits: by their parts, their sender, or their address. */
function circuitColorings({ circuits, contributions, network }) {
  const found = {};
  if (circuits.parts) found.contributions = (flit) => gradient((circuits.parts[flit] - 1) / Math.max(1, contributions.of - 1));
  if (circuits.senders.size > 1) found.sender = (flit) => gradient(circuits.sender[flit] / Math.max(1, network.nodes - 1));
  found.address = (flit) => gradient(circuits.address[flit] / circuits.most);
  return found;
}

/** Return the run table of a node; the entry is marked whose words the router moves now. */
function runTablePart(run, node) {
  const { circuits } = run;
  const { first_entry, duration } = circuits.table;
  const [begin, end] = [first_entry[node], first_entry[node + 1]];
  if (begin === end) return { element: make("p", { class: "quiet" }, "This node does nothing: its run table is empty.") };
  const rows = Array.from({ length: end - begin }, (_, place) => entryCells(run, begin + place));
  const made = table(`Run table of node ${run.network.names[node]}`, ["cycles", "the router moves", "joins", "reads", "writes"], rows);
  made.classList.add("wraps");
  const lines = [...made.querySelectorAll("tbody tr")];
  return {
    element: made,
    update: (cycle) => lines.forEach((line, place) => {
      const passed = cycle - TO_ROUTER - circuits.begins[begin + place];
      line.classList.toggle("now", passed >= 0 && passed < duration[begin + place]);
    }),
  };
}

/** Return the cells of an entry: cycles of the router, outputs, join, addresses read and written. */
function entryCells({ circuits, network }, entry) {
  const { codes, ejections, first, second, operator, duration, send_address, receive_address, receive } = circuits.table;
  const { ports, port_names, operators } = network;
  const { lanes, allPort } = circuits;
  const named = (number) => (number ? port_names[number] : "memory");
  const moves = [];
  const addresses = (list, lane) => `${allPort ? `${named(lane + 1)} ` : ""}${addressText(list[entry * lanes + lane], duration[entry])}`;
  const [reads, writes] = [[], []];
  for (let port = 0; port < ports; port++) {
    const code = codes[entry * ports + port];
    if (code) moves.push(`${code === 1 + port && !(allPort && !port) ? "sum" : named(code - 1)} to ${named(port)}`);
    if (allPort && port && code === 1) reads.push(addresses(send_address, port - 1));
  }
  for (let lane = 0; lane < lanes; lane++) {
    const ejection = allPort ? ejections[entry * lanes + lane] : 0;
    if (ejection) moves.push(`${ejection === 2 ? "sum" : named(lane + 1)} to memory`);
    if (receive[entry * lanes + lane]) writes.push(addresses(receive_address, lane));
  }
  const joined = operator[entry] ? [first[entry], second[entry]] : [];
  const sends = !allPort && [...codes.subarray(entry * ports + 1, (entry + 1) * ports), ...joined].includes(1);
  if (sends || (allPort && joined.includes(1))) reads.push(addresses(send_address, 0));
  const cycle = circuits.begins[entry] + TO_ROUTER;
  const join = joined.length ? `${joined.map((code) => named(code - 1)).join(" and ")}: ${operators[operator[entry] - 1]}` : "";
  return [addressText(cycle, duration[entry]), moves.join(", ") || "nothing", join, reads.join(", "), writes.join(", ")];
}

/** Return in one sentence what the routers of circuits do in a cycle. */
function seenOnCircuits(run, cycle) {
  const { circuits } = run;
  if (cycle >= run.cycles) return run.finished ? "All words have arrived." : "Nothing moves any more.";
  const { node, cycle: served } = run.firstServed();
  if (cycle === served) return `${run.network.names[node]} is the first node to have all its data. Press Space to go on.`;
  const flits = run.flitsOf(cycle);
  if (!flits.length) return cycle < circuits.earliest ? "The nodes read their run tables; then the first word leaves." : "The last words are written.";
  const [forks, sums] = [circuits.forks(cycle).length, new Set(circuits.sums(cycle).map((flit) => circuits.placeOf(flit)[0])).size];
  const parts = [];
  if (sums) parts.push(`two words become one in ${count(sums, "router")}`);
  if (forks) parts.push(`one word leaves by several ways in ${count(forks, "router")}`);
  const [what, more] = parts;
  if (!what) return "Each router passes its words on from one input to one output.";
  return `${what[0].toUpperCase()}${what.slice(1)}${more ? `; ${more}` : ""}.`;
}

/** Return entries of the legend for the words of circuits, and for what routers do with them. */
function legendOfCircuits(run, coloring) {
  const { circuits, contributions, network } = run;
  const entries = [entry(shape(0), "word")];
  const [low, high] = [swatch(gradient(0)), swatch(gradient(1))];
  if (coloring === "contributions") entries.push(entry(low, "1 contribution"), entry(high, count(contributions.of, "contribution")));
  if (coloring === "sender") entries.push(entry(low, `sent by ${network.names[0]}`), entry(high, `sent by ${network.names.at(-1)}`));
  if (coloring === "address") entries.push(entry(low, "first word"), entry(high, "last word"));
  entries.push(entry(wayIcon("M2 10H11M9 10C15 10 15 3 22 3M9 10C15 10 15 17 22 17"), "fork: one word leaves by several ways"));
  if (circuits.second.some((source) => source !== UNKNOWN)) entries.push(entry(wayIcon("M2 3C9 3 9 10 15 10M2 17C9 17 9 10 15 10M13 10H22M15 6V14M11 10H19"), "join: two words become their sum"));
  return entries;
}

const wayIcon = (path) => svg("svg", { viewBox: "0 0 24 20", class: "icon way", "aria-hidden": "true" }, svg("path", { d: path }));
