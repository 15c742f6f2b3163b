// Words on a run: what it does, what is seen in a cycle, the legend, and who waits for whom.

const PURPOSES = {
  broadcast: "A broadcast: one node has a message, and every node gets it.",
  multicast: "A multicast: one node has a message, and some nodes get it.",
  scatter: "A scatter: one node has a block of words for each node, and sends each block to its node.",
  gather: "A gather: every node has a block of words, and one node gets all blocks.",
  "all-gather": "An all-gather: every node has a block of words, and gets the blocks of all others.",
  "all-to-all": "An all-to-all: every node has a block of words for every other node.",
  neighbor: "A neighbor exchange: every node has a block of words for every node that is linked with it.",
  halo: "A halo exchange: every node has a block of words for every node around it, also for the nodes at its corners.",
  reduce: "A reduction: every node contributes words, and one node gets the combined words of all nodes, such as their sum.",
  "reduce-scatter": "A reduce-scatter: every node contributes to each block, and gets one block with the combined contributions of all nodes.",
  "all-reduce": "An all-reduce: every node contributes words, and every node gets the combined words of all nodes, such as their sum.",
  barrier: "A barrier: no node goes on before all nodes have reached it.",
  scan: "A scan: every node contributes words, and gets the combined words of itself and all nodes before it.",
  exscan: "An exclusive scan: every node contributes words, and gets the combined words of all nodes before it.",
  traffic: "Traffic: nodes send packets to other nodes without a common plan. Packets that need the same link wait for each other.",
};

/** Describe the events of a cycle in one line. */
function sentence(run, cycle) {
  const step = run.stepAt(cycle);
  const has = achieved(run, cycle);
  const held = run.detailed && run.held_up[cycle] ? `, ${count(run.held_up[cycle], "flit")} held up` : "";
  if (cycle >= run.cycles) return `End, after ${run.cycles} cycles: ${has}${held}.`;
  const place = `${run.steps.end.length ? `, step ${step} of ${run.steps.end.length}` : ""}`;
  if (!run.detailed) {
    const last = Math.min(cycle + run.bin, run.cycles) - 1;
    return `Cycles ${cycle} to ${last}${place}: ${run.moving[run.binOf(cycle)]} ${run.unit}s cross links; ${has}.`;
  }
  const moving = run.moving[cycle];
  const delivered = run.flitsOf(cycle).length - moving;
  return `Cycle ${cycle}${place}: ${count(moving, run.unit)} on links, ${delivered} delivered${held}; ${has}.`;
}

/** Return which part of its work a run has done before a cycle. */
function achieved(run, cycle) {
  const packets = run.program?.step.length;
  if (run.collective === "traffic" && run.detailed && packets) return `${run.deliveredBefore(cycle)} of ${count(packets, "packet")} delivered`;
  const { names } = run.network;
  const served = names.map((_, node) => node).filter((node) => run.isServed(node));
  if (run.brought && served.length === 1) return `${names[served[0]]} has ${run.contributionsAt(served[0], cycle)}`;
  const full = served.filter((node) => run.share(node, cycle) === 1).length;
  const [has, data] = served.length === 1 ? ["has", "its data"] : ["have", "their data"];
  return `${full} of ${count(served.length, "node")} ${has} all ${run.brought ? "contributions" : data}`;
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Return in one sentence what is seen in a cycle. */
function seen(run, cycle) {
  const what = run.collective === "traffic" ? "packet" : "message";
  if (run.isDeadlocked(cycle)) {
    return `A deadlock: ${run.deadlock.waits.length} packets wait in a circle, each for a link that the next packet holds.`;
  }
  if (run.circuits) return seenOnCircuits(run, cycle);
  if (!run.detailed || !run.program) return "";
  if (cycle >= run.cycles) return run.finished ? `All ${what}s have arrived.` : "Nothing moves any more.";
  if (cycle === run.opening) return `The first ${what}, from ${run.endsOf(run.trace.row[run.tails[0]])}, has arrived. Press Space to go on.`;
  const rows = run.rowsAt(cycle);
  if (!rows.length) return cycle ? `No ${what} is under way.` : `The nodes read their tables; then the first ${what} begins.`;
  const [first] = rows;
  const words = count(run.program.length[first - 1], "word");
  if (rows.length > 1) return `${rows.length} ${what}s are under way, one of them from ${run.endsOf(first)}.`;
  return `A ${what} of ${words} goes from ${run.endsOf(first)}, one flit behind the other.`;
}

/** Return entries of the legend for the shapes and colours of flits. */
function legendOfFlits(run, coloring) {
  if (run.circuits) return legendOfCircuits(run, coloring);
  const entries = run.detailed ? [[1, "head: leads the packet"], [0, "body"], [2, "tail: ends the packet"]].map(([kind, text]) => entry(shape(kind), text)) : [];
  if (coloring === "step") {
    const steps = run.steps.end.length;
    const shown = steps <= 10 ? run.steps.end.map((_, i) => i + 1) : [1, Math.ceil(steps / 2), steps];
    entries.push(...shown.map((step) => entry(swatch(gradient((step - 1) / Math.max(1, steps - 1))), `step ${step}`)));
  } else if (coloring === "virtual channel") {
    for (let vc = 0; vc < run.network.vcs; vc++) entries.push(entry(swatch(themed(VC_COLORS[vc % VC_COLORS.length])), `virtual channel ${vc}`));
  } else if (coloring === "packet") entries.push(entry(swatch(hue(1)), "a colour for each packet"));
  else if (coloring) entries.push(entry(swatch(gradient(0.5)), "a colour for each node of origin"));
  return entries;
}

/** Return entries of the legend for the looks of nodes. */
function legendOfNodes(run, network) {
  const what = run.brought ? "contributions are combined" : run.collective === "traffic" ? "its packets arrive" : "its words arrive";
  const entries = [entry(nodeIcon("", 0.5), `node, fills as ${what}`), entry(nodeIcon("full", 1), run.brought ? "has the contributions of all" : run.collective === "traffic" ? "has all its packets" : "has all its data")];
  if (run.root !== null) entries.push(entry(nodeIcon("root", 0), "the root"));
  if (network.faulty_nodes.length) entries.push(entry(nodeIcon("faulty", 0), "broken node"));
  if (network.points.some((_, node) => run.isIdle(node))) entries.push(entry(nodeIcon("idle", 0), "takes no part"));
  if (network.switches.length) entries.push(entry(nodeIcon("switch", 0), "switch: sends and gets nothing"));
  if (network.host !== null) entries.push(entry(nodeIcon("host", 0), "host"));
  if (Object.keys(run.flags).length) entries.push(entry(nodeIcon("flagged", 0), "node with an error"));
  return entries;
}

/** Return entries of the legend for the looks of links. */
function legendOfLinks(run, network) {
  const entries = [];
  if (run.detailed && !run.circuits) entries.push(entry(linkIcon("held"), "link that a packet holds, from its head to its tail"));
  if (run.datelines.size) {
    const bar = svg("svg", { viewBox: "-20 -20 40 40", class: "icon" }, svg("line", { class: "dateline", y1: -16, y2: 16 }));
    entries.push(entry(bar, "dateline: packets change to the next virtual channel"));
  }
  if (slowLinks(network).size) entries.push(entry(linkIcon("slow"), "slow link, such as between chiplets"));
  if (network.links.faulty.some(Boolean)) entries.push(entry(linkIcon("faulty"), "broken link"));
  if (run.detailed && run.held_up.some(Boolean)) entries.push(entry(make("span", { class: "ringed" }), "flit that cannot go on"));
  if (run.deadlock) entries.push(entry(linkIcon("circle"), "link in a circle of packets that wait"));
  return entries;
}

const entry = (icon, text) => make("li", {}, icon, text);

function swatch(color) {
  const element = make("span", { class: "swatch", "aria-hidden": "true" });
  element.style.setProperty("--swatch", color);
  return element;
}

/** Return the canvas shape of a kind of flit. */
function shape(kind) {
  const canvas = make("canvas", { width: "32", height: "32", "aria-hidden": "true" });
  drawFlit(canvas.getContext("2d"), { x: 14, y: 16, angle: 0 }, kind, 8, themed("--quiet"), themed("--paper"));
  return canvas;
}

function nodeIcon(look, share) {
  const rx = look === "host" ? 23 : 9;
  return svg("svg", { viewBox: "-28 -28 56 56", class: "icon", "aria-hidden": "true" }, svg("g", { class: `node ${look}` },
    svg("rect", { class: "box", x: -23, y: -23, width: 46, height: 46, rx }),
    svg("rect", { class: "fill", x: -19, y: 19 - 38 * share, width: 38, height: 38 * share, rx: 5 }),
    look === "faulty" ? svg("path", { class: "cross", d: "M-11-11L11 11M11-11L-11 11" }) : null));
}

function linkIcon(look) {
  return svg("svg", { viewBox: "0 -14 44 28", class: "icon", "aria-hidden": "true" }, svg("g", { class: `link ${look}` },
    svg("path", { class: "line", d: "M2 0H42" })));
}

/** Return who waits for whom in a deadlock, and what would resolve it. */
function deadlockPart(run, drawing, player) {
  const link = ([line, vc]) => {
    const way = drawing.ways[drawing.linkOf.get(line)];
    return way ? `${drawing.network.names[way.from]} to ${drawing.network.names[way.to]} (VC ${vc})` : "its own interface";
  };
  const whys = {
    holds: (wait) => `waits for ${link(wait.wanted)}, held by the packet from ${run.endsOf(wait.other)}`,
    fills: (wait) => `waits for room behind ${link(wait.wanted)}, where the packet from ${run.endsOf(wait.other)} stands in front`,
    ahead: (wait) => `stands in a buffer behind the packet from ${run.endsOf(wait.other)}`,
  };
  const items = run.deadlock.waits.map((wait) => {
    const show = () => {
      player.go(run.cycles);
      drawing.choose({ link: drawing.linkOf.get(wait.held[0]) });
    };
    const button = make("button", { type: "button", class: "cell", onclick: show }, run.endsOf(wait.row));
    return make("li", {}, "the packet from ", button, ` holds ${link(wait.held)}, ${whys[wait.why](wait)}`);
  });
  const remedies = run.deadlock.remedies.length ? run.deadlock.remedies : ["more VCs or other routes, such that no packets can wait in a circle"];
  return [
    make("h2", {}, "Who waits for whom"),
    make("ol", {}, ...items),
    make("h3", {}, "How to avoid the deadlock"),
    make("ul", {}, ...remedies.map((remedy) => make("li", {}, remedy))),
  ];
}
