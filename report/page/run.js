// A run: its flits by cycle and by output, the memories that they fill, and the loads of links.

const HEAD = 1;
const TAIL = 2;
const PARKED = 64; // cycles of a bucket of flits that wait in a buffer

/** Return the first index of an ascending list with a value above `value`. */
function above(list, value, begin = 0, end = list.length) {
  while (begin < end) {
    const middle = (begin + end) >> 1;
    if (list[middle] > value) end = middle;
    else begin = middle + 1;
  }
  return begin;
}

/** Return for how many cycles a flit is on the link of each output. */
function flightsOf({ nodes, ports, links }) {
  const flights = new Uint8Array(nodes * ports).fill(1);
  links.from.forEach((node, link) => { flights[node * ports + links.port[link]] += links.registers[link]; });
  return flights;
}

/** Return the links that are slower than others: with a rate, or more registers than the least. */
function slowLinks({ links: { rate, registers } }) {
  const least = registers.reduce((a, b) => Math.min(a, b), Infinity);
  return new Set([...rate.keys()].filter((link) => rate[link] > 1 || registers[link] > least));
}

class Run {
  constructor(data, network) {
    Object.assign(this, data);
    this.network = network;
    this.flights = flightsOf(network);
    this.longest = this.flights.reduce((a, b) => Math.max(a, b), 1);
    this.lineAt = new Map();
    if (this.trace) this.readTrace(this.trace);
    else this.readLoads(this.loads);
    this.due = this.wordsDue();
  }

  /** True if single flits are known, false if only counts are. */
  get detailed() {
    return this.trace !== null;
  }

  readTrace({ rows, lines, counts, gaps, stay, stalled }) {
    this.first = new Uint32Array(lines.length + 1);
    this.flitLine = new Uint32Array(rows);
    this.flitCycle = new Uint32Array(rows);
    let at = 0;
    lines.forEach((line, place) => {
      this.lineAt.set(line, place);
      let cycle = 0;
      for (const end = at + counts[place]; at < end; at++) {
        cycle += gaps[at];
        this.flitLine[at] = line;
        this.flitCycle[at] = cycle;
      }
      this.first[place + 1] = at;
    });
    this.indexCycles(rows);
    this.indexParked(rows, stay, stalled);
    this.indexHeld();
    this.payload = this.summed((flit) => 1);
    if (this.run_tables) this.readCircuits();
    else if (this.contributions && this.program) {
      const { gained, words } = this.contributions;
      this.brought = this.summed((flit) => {
        const row = this.trace.row[flit];
        return row ? gained[row - 1] / words[row - 1] : 0;
      });
    }
  }

  /** Follow the words of circuits from router to router, and count what is combined in them. */
  readCircuits() {
    this.circuits = new Circuits(this);
    if (!this.contributions) return;
    this.circuits.combine(this.contributions);
    this.brought = this.summed((flit) => this.circuits.gains[flit]);
  }

  /** What crosses links: without packets, words. */
  get unit() {
    return this.circuits ? "word" : "flit";
  }

  /** Sort the flits by cycle and output; those of cycle c begin at firstOf[c]. */
  indexCycles(rows) {
    this.firstOf = new Uint32Array(this.cycles + 2);
    for (let i = 0; i < rows; i++) this.firstOf[Math.min(this.flitCycle[i], this.cycles) + 1]++;
    for (let c = 0; c <= this.cycles; c++) this.firstOf[c + 1] += this.firstOf[c];
    const next = this.firstOf.slice();
    this.byCycle = new Uint32Array(rows);
    this.moving = new Uint32Array(this.cycles + 1);
    for (let i = 0; i < rows; i++) {
      const cycle = Math.min(this.flitCycle[i], this.cycles);
      this.byCycle[next[cycle]++] = i;
      if (this.flitLine[i] % this.network.ports) this.moving[cycle]++;
    }
  }

  /** Put flits that wait in a buffer into buckets of cycles, and count held-up flits. */
  indexParked(rows, stay, stalled) {
    this.parked = new Map();
    const change = new Int32Array(this.cycles + 2);
    for (let i = 0; i < rows; i++) {
      if (stay[i] <= this.flights[this.flitLine[i]] || this.flitLine[i] % this.network.ports === 0) continue;
      const end = this.flitCycle[i] + stay[i];
      for (let b = Math.floor(this.flitCycle[i] / PARKED); b * PARKED < end; b++) {
        if (!this.parked.has(b)) this.parked.set(b, []);
        this.parked.get(b).push(i);
      }
      if (stalled[i]) {
        change[Math.min(end - stalled[i], this.cycles)]++;
        change[Math.min(end, this.cycles + 1)]--;
      }
    }
    this.held_up = new Uint32Array(this.cycles + 1);
    let now = 0;
    for (let c = 0; c <= this.cycles; c++) this.held_up[c] = now += change[c];
  }

  /** Find the cycles in which a packet holds each output, from its head to its tail. */
  indexHeld() {
    const { kind, vc } = this.trace;
    this.holds = new Map();
    const add = (head, end) => {
      for (let b = Math.floor(this.flitCycle[head] / PARKED); b * PARKED <= end; b++) {
        if (!this.holds.has(b)) this.holds.set(b, []);
        this.holds.get(b).push(head, end);
      }
    };
    for (let place = 0; place + 1 < this.first.length; place++) {
      const [begin, end] = [this.first[place], this.first[place + 1]];
      if (begin === end || this.flitLine[begin] % this.network.ports === 0) continue;
      const heads = new Map();
      for (let i = begin; i < end; i++) {
        if (kind[i] & HEAD && !heads.has(vc[i])) heads.set(vc[i], i);
        if (!(kind[i] & TAIL) || !heads.has(vc[i])) continue;
        add(heads.get(vc[i]), this.flitCycle[i] + this.flights[this.flitLine[i]] - 1);
        heads.delete(vc[i]);
      }
      for (const head of heads.values()) add(head, this.cycles);
    }
  }

  /** Return the first flits of the packets that hold a link in a cycle. */
  holding(cycle) {
    const found = [];
    const all = this.detailed ? this.holds.get(Math.floor(cycle / PARKED)) ?? [] : [];
    for (let i = 0; i < all.length; i += 2) {
      if (this.flitCycle[all[i]] <= cycle && cycle <= all[i + 1]) found.push(all[i]);
    }
    return found;
  }

  /** Sum up a value of the words that each output to a node has delivered, flit by flit. */
  summed(value) {
    const { length } = this.flitLine;
    const sums = new Float64Array(length + 1);
    for (let i = 0; i < length; i++) {
      const word = this.flitLine[i] % this.network.ports === 0 && !(this.trace.kind[i] & HEAD);
      sums[i + 1] = sums[i] + (word ? value(i) : 0);
    }
    return sums;
  }

  readLoads({ lines, counts, bins, width }) {
    lines.forEach((line, place) => this.lineAt.set(line, place));
    this.moving = new Uint32Array(bins);
    for (let bin = 0; bin < bins; bin++) {
      for (let place = 0; place < lines.length; place++) {
        if (lines[place] % this.network.ports) {
          this.moving[bin] += counts[bin * lines.length + place];
        }
      }
    }
    this.bin = width;
    // For each output, the number of flits before each bin.
    this.before = lines.reduce((all, _, place) => {
      const sums = new Float64Array(bins + 1);
      for (let b = 0; b < bins; b++) sums[b + 1] = sums[b] + counts[b * lines.length + place];
      all.push(sums);
      return all;
    }, []);
  }

  /** Words that each node must get: by the program's rows, otherwise the number that it got. */
  wordsDue() {
    const due = new Float64Array(this.network.nodes);
    if (this.program) {
      this.program.target.forEach((target, row) => {
        if (target) due[target - 1] += this.program.length[row];
      });
    } else {
      due.forEach((_, node) => { due[node] = this.wordsGot(node, this.cycles); });
    }
    return due;
  }

  /** Return the words (in a summary, flits) that a node got before a cycle. */
  wordsGot(node, cycle) {
    const place = this.lineAt.get(node * this.network.ports);
    if (place === undefined) return 0;
    if (!this.detailed) return this.before[place][Math.min(this.binOf(cycle), this.moving.length)];
    return this.sumBefore(this.payload, place, cycle);
  }

  sumBefore(sums, place, cycle) {
    const end = above(this.flitCycle, cycle - 1, this.first[place], this.first[place + 1]);
    return sums[end] - sums[this.first[place]];
  }

  /** Return the share of its data that a node has before a cycle; null if it gets none.
   *
   * Where nodes combine, its data are the contributions of all nodes.
   */
  share(node, cycle) {
    const all = this.held[node] + this.due[node];
    if (!this.brought) return all ? (this.held[node] + this.wordsGot(node, cycle)) / all : null;
    const goal = this.contributions.goal[node];
    const place = this.lineAt.get(node * this.network.ports);
    const got = this.contributions.start[node] + (place === undefined ? 0 : this.sumBefore(this.brought, place, cycle));
    return goal ? Math.min(1, Math.round(1e9 * (got / goal)) / 1e9) : null;
  }

  /** Return the contributions that a node has combined before a cycle: "3 of 16 contributions". */
  contributionsAt(node, cycle) {
    const { of } = this.contributions;
    return `${Math.floor(of * (this.share(node, cycle) ?? 0))} of ${count(of, "contribution")}`;
  }

  /** Return whether a node must end up with data. */
  isServed(node) {
    return this.brought ? this.contributions.owed[node] && this.contributions.goal[node] > 0 : this.held[node] + this.due[node] > 0;
  }

  /** Return whether a node takes no part in a collective: it has, sends and gets nothing. */
  isIdle(node) {
    const { program, network } = this;
    return Boolean(program && this.steps.end.length) && this.held[node] + this.due[node] === 0
      && program.first_row[node] === program.first_row[node + 1]
      && !network.switches.includes(node) && !network.faulty_nodes.includes(node);
  }

  binOf(cycle) {
    return Math.floor(cycle / this.bin);
  }

  /** Return the sender of a row. */
  senderOf(row) {
    return above(this.program.first_row, row - 1) - 1;
  }

  /** Return "(0,0) to (2,1)" for a row. */
  endsOf(row) {
    const { names } = this.network;
    const target = this.program.target[row - 1];
    return `${names[this.senderOf(row)]} to ${target ? names[target - 1] : "nowhere"}`;
  }

  /** Return the rows of the packets that are on links, in buffers, or delivered in a cycle. */
  rowsAt(cycle) {
    const rows = new Set();
    for (const flits of [this.flitsThere(cycle), this.flitsOf(cycle), this.holding(cycle)]) {
      for (const flit of flits) rows.add(this.trace.row[flit]);
    }
    rows.delete(0);
    return [...rows];
  }

  /** The delivered tails, as flits in the order of their cycles. */
  get tails() {
    if (!this.tailsFound) {
      const isTail = (flit) => this.flitLine[flit] % this.network.ports === 0 && this.trace.kind[flit] & TAIL;
      this.tailsFound = this.detailed ? this.byCycle.filter(isTail) : [];
      this.tailCycles = Array.from(this.tailsFound, (flit) => this.flitCycle[flit]);
    }
    return this.tailsFound;
  }

  /** The cycle after the first delivered tail; with circuits, that in which a node is the first to
   * have all its data. The end if there is none. */
  get opening() {
    if (this.circuits) return this.firstServed().cycle;
    return this.tails.length ? this.flitCycle[this.tails[0]] + 1 : this.cycles;
  }

  /** Return the first node that gets all its data, and the cycle after its last word. */
  firstServed() {
    this.served ??= this.findServed();
    return this.served;
  }

  findServed() {
    let found = { node: null, cycle: this.cycles };
    for (let node = 0; node < this.network.nodes; node++) {
      if (!this.isServed(node) || this.share(node, 0) === 1) continue;
      const place = this.lineAt.get(node * this.network.ports);
      if (place === undefined) continue;
      const at = Array.from(this.flitCycle.subarray(this.first[place], this.first[place + 1]), (cycle) => cycle + 1);
      const cycle = at.find((each) => each >= found.cycle || this.share(node, each) === 1) ?? found.cycle;
      if (cycle < found.cycle) found = { node, cycle };
    }
    return found;
  }

  /** Return the number of packets that are delivered before a cycle. */
  deliveredBefore(cycle) {
    return this.tails.length && above(this.tailCycles, cycle - 1);
  }

  /** Return whether packets wait in a circle for good in a cycle. */
  isDeadlocked(cycle) {
    return this.deadlock !== null && cycle >= this.cycles - 1;
  }

  /** Return the flits that leave outputs in a cycle, in order of outputs. */
  flitsOf(cycle) {
    if (!this.detailed || cycle >= this.cycles) return [];
    return this.byCycle.subarray(this.firstOf[cycle], this.firstOf[cycle + 1]);
  }

  /** Return the flits on links or in the next buffers in a cycle, or at the end. */
  flitsThere(cycle) {
    if (!this.detailed || cycle > this.cycles) return [];
    const there = [];
    for (let c = Math.max(0, cycle + 1 - this.longest); c <= cycle; c++) {
      for (const i of this.flitsOf(c)) {
        if (this.flitLine[i] % this.network.ports && this.flights[this.flitLine[i]] > cycle - c) there.push(i);
      }
    }
    for (const i of this.parked.get(Math.floor(cycle / PARKED)) ?? []) {
      const since = cycle - this.flitCycle[i];
      if (since >= this.flights[this.flitLine[i]] && since < this.trace.stay[i]) there.push(i);
    }
    return there;
  }

  /** Return whether a flit is held up in a cycle: at the front of its buffer, unable to leave. */
  isStalled(flit, cycle) {
    const left = this.flitCycle[flit] + this.trace.stay[flit];
    return this.trace.stalled[flit] > 0 && cycle < left && cycle >= left - this.trace.stalled[flit];
  }

  /** Return the number of flits of an output before a cycle. */
  load(line, cycle) {
    const place = this.lineAt.get(line);
    if (place === undefined) return 0;
    if (!this.detailed) return this.before[place][Math.min(this.binOf(cycle), this.moving.length)];
    return above(this.flitCycle, cycle - 1, this.first[place], this.first[place + 1]) - this.first[place];
  }

  /** Count flits of an output in each of at most `most` bins: [counts, cycles of a bin]. */
  loadOverTime(line, most) {
    const width = this.detailed ? Math.max(1, Math.ceil(this.cycles / most)) : this.bin;
    const counts = [];
    for (let begin = 0; begin < this.cycles; begin += width) {
      counts.push(this.load(line, begin + width) - this.load(line, begin));
    }
    return [counts, width];
  }

  /** Count flits of an output in each step; null if steps are not known. */
  loadBySteps(line) {
    const place = this.lineAt.get(line);
    const counts = this.steps.end.map(() => 0);
    if (!counts.length || (!this.detailed && !this.loads.steps)) return null;
    if (place === undefined) return counts;
    if (!this.detailed) {
      return counts.map((_, step) => this.loads.steps[step * this.loads.lines.length + place]);
    }
    for (let i = this.first[place]; i < this.first[place + 1]; i++) {
      const step = this.stepOf(i);
      if (step) counts[step - 1]++;
    }
    return counts;
  }

  /** The outputs by which a packet's head changes to a higher virtual channel. */
  get datelines() {
    this.datelinesFound ??= this.detailed && !this.circuits && this.network.vcs > 1 ? this.findDatelines() : new Set();
    return this.datelinesFound;
  }

  findDatelines() {
    const lines = new Set();
    const { kind, row, vc } = this.trace;
    const before = new Uint8Array(this.program ? this.program.step.length + 1 : 1); // by row, VC + 1
    this.byCycle.forEach((flit) => {
      if (!row[flit] || !(kind[flit] & HEAD) || this.flitLine[flit] % this.network.ports === 0) return;
      if (before[row[flit]] && before[row[flit]] <= vc[flit]) lines.add(this.flitLine[flit]);
      before[row[flit]] = vc[flit] + 1;
    });
    return lines;
  }

  /** Return the step of a flit's row; 0 for none. */
  stepOf(flit) {
    const row = this.trace.row[flit];
    return row && this.program && this.steps.end.length ? this.program.step[row - 1] : 0;
  }

  /** Return the last step that has begun by a cycle; 0 before the first step, or without steps. */
  stepAt(cycle) {
    let step = 0;
    this.steps.end.forEach((end, place) => {
      if (end && this.steps.first[place] <= cycle) step = place + 1;
    });
    return step;
  }

  /** Return the word of a flit in hex. */
  word(flit) {
    return hex(this.trace.words, this.trace.word[flit]);
  }

  /** Return the words of a row in its table memory, in hex: control words, then header flits. */
  tableWords(row) {
    const { control, header_flits, step } = this.program;
    if (!this.table) this.readTable();
    const places = Array.from({ length: control }, (_, number) => number * step.length + row);
    const first = control * step.length + this.firstHeader[row];
    for (let flit = 0; flit < header_flits[row]; flit++) places.push(first + flit);
    return places.map((place) => hex(this.table, place));
  }

  /** Decode the words of tables: each is stored XORed with the previous one. */
  readTable() {
    const { table, header_flits } = this.program;
    const whole = (column) => {
      let word = 0;
      return column && Uint32Array.from(column, (change) => (word ^= change));
    };
    this.table = { low: whole(table.low), high: whole(table.high) };
    this.firstHeader = new Uint32Array(header_flits.length + 1);
    header_flits.forEach((flits, row) => { this.firstHeader[row + 1] = this.firstHeader[row] + flits; });
  }

  /** The cycle of each row's last delivered flit, plus 1; 0 if it is never delivered. */
  get arrivals() {
    if (!this.arrived) {
      this.arrived = new Float64Array(this.program.step.length);
      this.trace.row.forEach((row, flit) => {
        const last = this.flitLine[flit] % this.network.ports === 0 && this.trace.kind[flit] & TAIL;
        if (row && last) this.arrived[row - 1] = this.flitCycle[flit] + 1;
      });
    }
    return this.arrived;
  }

  /** Return when the last flit of a row is delivered, with the prediction if it differs. */
  arrivalText(row) {
    const text = (after) => (after ? `${after - 1}` : "never");
    const seen = text(this.arrivals[row]);
    return this.isLate(row) ? `${seen}, not ${text(this.predicted[row])}` : seen;
  }

  /** Return whether a row's packet is delivered at another time than predicted. */
  isLate(row) {
    return Boolean(this.predicted) && this.arrivals[row] !== this.predicted[row];
  }

  /** Return packets that a node got: row, first and last cycle, address and cycle of each word. */
  packetsTo(node) {
    const place = this.lineAt.get(node * this.network.ports);
    const open = new Map();
    const packets = [];
    if (!this.detailed || place === undefined) return packets;
    for (let i = this.first[place]; i < this.first[place + 1]; i++) {
      const key = this.trace.row[i] || `VC ${this.trace.vc[i]}`;
      const kind = this.trace.kind[i];
      if (!open.has(key)) {
        const packet = { row: this.trace.row[i], first: this.flitCycle[i], cycles: [] };
        packets.push(packet);
        open.set(key, packet);
      }
      const packet = open.get(key);
      packet.last = this.flitCycle[i];
      if (!(kind & HEAD)) packet.cycles.push(this.flitCycle[i]);
      if (kind & TAIL) open.delete(key);
    }
    return packets;
  }
}

function hex(words, place) {
  const digits = (column) => (column ? column[place] : 0).toString(16).padStart(8, "0");
  const pieces = [words, ...(words.further ?? [])].map((piece) => digits(piece.high) + digits(piece.low));
  return pieces.reverse().join("").replace(/^0+(?=.)/, "");
}
