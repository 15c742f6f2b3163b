// Panels of a chosen node or link. A panel is made once; its marks follow the cycle.

const MOST_CELLS = 512;
const MOST_BARS = 240;

/** Return hops by direction and virtual channels of a row's route: ["3 east, 1 south", "0"]. */
function routeTexts({ first_segment, port, hops, vc, route }, names, row) {
  const hopTexts = [];
  const channels = new Set();
  for (let i = first_segment[route[row]]; i < first_segment[route[row] + 1]; i++) {
    hopTexts.push(`${hops[i]} ${names[port[i]]}`);
    channels.add(vc[i]);
  }
  return [hopTexts.join(", "), [...channels].join(", ")];
}

/** Return addresses of words as a range: "0-15". */
function addressText(first, length) {
  if (!length) return "none";
  return length === 1 ? `${first}` : `${first}-${first + length - 1}`;
}

/** Return the panel of a node: {elements, update}. */
function nodePanel(run, drawing, node) {
  const { names } = run.network;
  const text = make("p", { class: "state" });
  const elements = [make("h2", {}, `Node ${names[node]}`), text];
  elements.push(...troublesOf(run, node));
  const updates = [(cycle) => { text.textContent = nodeState(run, node, cycle); }];
  const packets = run.packetsTo(node);
  for (const part of [memoryPart(run, node, packets), ...(run.circuits ? [runTablePart(run, node)] : [injectionPart(run, node), arrivalsPart(run, node, packets)])]) {
    if (!part) continue;
    elements.push(part.element);
    if (part.update) updates.push(part.update);
  }
  elements.push(linksPart(drawing, node));
  return { elements, update: (cycle) => updates.forEach((update) => update(cycle)) };
}

function nodeState(run, node, cycle) {
  const parts = [`number ${node}`];
  const all = run.held[node] + run.due[node];
  const has = run.held[node] + run.wordsGot(node, cycle);
  const unit = run.detailed || run.run_tables ? "words" : "flits";
  if (run.brought) parts.push(`${run.contributionsAt(node, cycle)} combined`);
  else parts.push(all ? `${has} of ${all} ${unit} there` : "gets no data");
  if (run.stalled && !run.run_tables) parts.push(`${run.stalled[node]} stalled flits in the whole run`);
  return `${parts.join(" · ")}`;
}

function troublesOf(run, node) {
  const flags = run.flags[node];
  const lines = run.waiting.filter((line) => line.startsWith(`node ${node} `));
  if (flags) lines.unshift(`error flags: ${flags.join(", ")}`);
  return lines.map((line) => make("p", { class: "bad" }, line));
}

/** Return the message memory; each word is marked from the cycle of its arrival on. */
function memoryPart(run, node, packets) {
  if (!run.memory || !run.memory.size) return null;
  const { size } = run.memory;
  const since = arrivalCycles(run, node, packets);
  const shown = Math.min(size, MOST_CELLS);
  const cells = Array.from({ length: shown }, (_, address) =>
    make("li", { title: `address ${address}` }, hex(run.memory, node * size + address)));
  const list = make("ol", { class: "memory", start: "0", "aria-label": `Words of the memory from address 0 on, at the end` }, ...cells);
  const more = size > shown ? make("p", { class: "quiet" }, `and ${size - shown} words more`) : null;
  return {
    element: make("details", { open: true }, make("summary", {}, "Memory"), list, ...(more ? [more] : [])),
    update: (cycle) => cells.forEach((cell, address) => cell.classList.toggle("coming", since.get(address) >= cycle)),
  };
}

/** Return the last cycle that writes each address of a node. */
function arrivalCycles(run, node, packets) {
  const since = new Map();
  if (run.circuits) for (const [address, cycle] of run.circuits.writesOf(node)) since.set(address, cycle);
  for (const { row, cycles } of packets) {
    if (!row || !run.program) continue;
    const begin = run.program.target_address[row - 1];
    cycles.forEach((cycle, place) => since.set(begin + place, cycle + run.network.write_delay));
  }
  return since;
}

/** Return the injection table; the rows of the current step are marked. */
function injectionPart(run, node) {
  const { program } = run;
  if (!program) return null;
  const [begin, end] = [program.first_row[node], program.first_row[node + 1]];
  const timed = program.start.subarray(begin, end).some((start) => start);
  const rows = [];
  for (let row = begin; row < end; row++) {
    const to = program.target[row] ? run.network.names[program.target[row] - 1] : "nowhere";
    const [route, channels] = routeTexts(program, run.network.port_names, row);
    rows.push({
      [timed ? "from cycle" : "step"]: timed ? program.start[row] - 1 : program.step[row],
      words: addressText(program.source_address[row], program.length[row]),
      to,
      "words there": addressText(program.target_address[row], program.length[row]),
      route,
      VC: channels,
      arrives: run.arrivalText(row),
    });
  }
  if (!rows.length) return { element: make("p", { class: "quiet" }, "This node sends nothing: its table of packets is empty.") };
  const columns = Object.keys(rows[0]);
  const cells = rows.map((row) => columns.map((name) => row[name]));
  const made = table(`Injection table of node ${run.network.names[node]}`, columns, cells, (number) => (run.isLate(begin + number) ? "wrong" : null));
  made.classList.add("wraps");
  const lines = [...made.querySelectorAll("tbody tr")];
  lines.forEach((line, place) => {
    line.classList.add("open");
    line.after(rowDetails(run, begin + place, columns.length));
  });
  const update = timed ? null : (cycle) => {
    const step = run.stepAt(cycle);
    lines.forEach((line, place) => line.classList.toggle("now", rows[place].step === step));
  };
  return { element: made, update };
}

/** Return a row's remarks and its words in the table memory, shown below its other cells. */
function rowDetails(run, row, columns) {
  const { remarks, remark } = run.program;
  const text = remarks[remark[row]];
  const words = make("code", {}, run.tableWords(row).join(" "));
  return make("tr", { class: "more" }, make("td", { colspan: columns }, text && `${text} · `, "table words ", words));
}

/** Return the packets that a node receives, and the steps in which its table expects a packet. */
function arrivalsPart(run, node, packets) {
  const { program } = run;
  if (!run.detailed) return null;
  const timed = program?.start.some((start) => start);
  const rows = packets.map(({ row, first, last, cycles }) => {
    if (!row || !program) return ["", "unknown", cycles.length, first, last];
    return [timed ? program.start[row - 1] - 1 : program.step[row - 1], run.network.names[run.senderOf(row)], cycles.length, first, last];
  });
  if (!rows.length) return { element: make("p", { class: "quiet" }, "No packet arrives at this node.") };
  const made = table(`Arrivals at node ${run.network.names[node]}`, [timed ? "sent from cycle" : "step", "from", "words", "first cycle", "last cycle"], rows);
  const lines = [...made.querySelectorAll("tbody tr")];
  return {
    element: made,
    update: (cycle) => lines.forEach((line, place) => {
      line.classList.toggle("now", rows[place][3] <= cycle && cycle <= rows[place][4]);
      line.classList.toggle("later", rows[place][3] > cycle);
    }),
  };
}

/** Return buttons for the links of a node, so that they can be chosen without the drawing. */
function linksPart(drawing, node) {
  const buttons = [];
  drawing.ways.forEach((way, link) => {
    if (way.from !== node && way.to !== node) return;
    const out = way.from === node;
    const other = drawing.network.names[out ? way.to : way.from];
    buttons.push(make("li", {}, make("button", { type: "button", onclick: () => drawing.choose({ link }) }, `${out ? "to" : "from"} ${other}`)));
  });
  return make("div", {}, make("h3", {}, "Links"), make("ul", { class: "chips" }, ...buttons));
}

/** Return the panel of a link: {elements, update}. */
function linkPanel(run, drawing, link, player) {
  const way = drawing.ways[link];
  const total = run.load(way.line, run.cycles);
  const [flight, rate] = [run.flights[way.line], run.network.links.rate[link]];
  const slow = [flight > 1 ? ` · crossed in ${flight} cycles` : "", rate > 1 ? ` · a flit every ${rate} cycles` : ""].join("");
  const text = make("p", { class: "state" });
  const home = make("div", { class: "plot" });
  const elements = [make("h2", {}, drawing.linkName(link)), text];
  if (way.faulty) elements.push(make("p", { class: "bad" }, "This link is broken: nothing can cross it."));
  const ends = [way.from, way.to].map((node) => make("li", {},
    make("button", { type: "button", onclick: () => drawing.choose({ node }) }, `node ${drawing.network.names[node]}`)));
  const back = drawing.ways.findIndex((other) => other.from === way.to && other.to === way.from);
  if (back >= 0) ends.push(make("li", {}, make("button", { type: "button", onclick: () => drawing.choose({ link: back }) }, "the other way")));
  elements.push(home);
  const plot = linkLoad(home, run, way, player, drawing.linkName(link));
  const counts = run.loadBySteps(way.line);
  const made = counts && table("Flits in each step", ["step", "flits"], counts.map((count, step) => [step + 1, count]));
  if (made) elements.push(made);
  elements.push(make("ul", { class: "chips" }, ...ends));
  const lines = made ? [...made.querySelectorAll("tbody tr")] : [];
  return {
    elements,
    update: (cycle) => {
      plot.mark(cycle);
      const share = run.cycles ? Math.round((100 * total) / run.cycles) : 0;
      text.textContent = `port ${way.port} · ${run.load(way.line, cycle)} of ${total} ${run.unit}s before this cycle · in use ${share}% of the time${slow}`;
      lines.forEach((line, place) => line.classList.toggle("now", place + 1 === run.stepAt(cycle)));
    },
  };
}

/** Plot the flits of a link over time. */
function linkLoad(home, run, way, player, name) {
  const [counts, each] = run.loadOverTime(way.line, MOST_BARS);
  const over = each === 1 ? `${run.unit}s in each cycle` : `${run.unit}s in every ${each} cycles`;
  return new Plot(home, {
    each,
    series: [{ values: counts, look: "flow" }],
    label: `${name}: ${over}, at most ${counts.reduce((a, b) => Math.max(a, b), 0)}`,
    axis: over,
    steps: run.steps,
    textOf: (bin) => `${cyclesText(bin, each)}: ${count(counts[bin], run.unit)}`,
    onPick: (cycle) => player.go(cycle),
  });
}
