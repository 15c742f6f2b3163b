// Tables and lists; texts are inserted as text, never as markup.

const MOST_ROWS = 400;

/** Return a table with a caption; `mark` returns the class of a row, or nothing. */
function table(caption, columns, rows, mark = () => null) {
  const shown = rows.slice(0, MOST_ROWS);
  const body = shown.map((row, number) => make("tr", { class: mark(number, row) },
    ...row.map((cell, place) => (place || cell === "" ? make("td", {}, cellOf(cell)) : make("th", { scope: "row" }, cellOf(cell))))));
  const head = make("tr", {}, ...columns.map((column) => (column ? make("th", { scope: "col" }, column) : make("td"))));
  return make("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": caption },
    make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...body)),
    rows.length > MOST_ROWS ? make("p", { class: "quiet" }, `and ${rows.length - MOST_ROWS} rows more`) : null);
}

function cellOf(cell) {
  return cell instanceof Node ? cell : String(cell ?? "");
}

/** Return the steps from the trace, beside their prediction. */
function stepsTable(run) {
  const predicted = run.measures.length > 0;
  const columns = ["step", "begins", "ends", ...(predicted ? ["predicted", "sends", "links crossed", "longest path", "flits"] : [])];
  const rows = run.steps.end.map((end, place) => {
    const measure = run.measures[place];
    const more = measure ? [measure.ends, measure.sends, measure.distance, measure.longest, measure.flits] : [];
    return [place + 1, end ? run.steps.first[place] : "", end || "", ...more];
  });
  const wrong = rows.map((row) => predicted && row[2] !== (row[3] ?? ""));
  const made = table("Cycles of each step", columns, rows, (number) => (wrong[number] ? "wrong" : null));
  made.dataset.steps = "";
  made.classList.add("wraps");
  return made;
}

/** Return the tables of a run: its steps, and the tables from Python. */
function runTables(run) {
  const found = run.steps.end.length ? [stepsTable(run)] : [];
  for (const each of run.tables) {
    found.push(table(each.title, each.columns, each.rows, (number) => (each.wrong.includes(number) ? "wrong" : null)));
  }
  return found;
}

/** Return both traces around the first row in which they differ. */
function differenceTable({ row, rows, names }) {
  return table(`First difference of both traces: row ${row}`, ["row", ...names], rows.map((each) => each.map((cell) => (cell === "" ? "no row" : cell))),
    (number) => (rows[number][0] === row ? "wrong" : null));
}

const KINDS = ["body", "head", "tail", "single"];

/** Return the rows of the trace of one cycle. */
function flitsTable(run, names, drawing, cycle) {
  const { ports } = run.network;
  const { circuits } = run;
  const rows = Array.from(run.flitsOf(cycle), (flit) => {
    const line = run.flitLine[flit];
    const [node, port] = [Math.floor(line / ports), line % ports];
    const way = drawing.ways[drawing.linkOf.get(line)];
    const to = port ? names[way?.to] ?? "nowhere" : "the node";
    if (circuits) return [names[node], port, to, run.word(flit), names[circuits.sender[flit]] ?? "unknown", ...(circuits.parts ? [circuits.parts[flit]] : [])];
    return [names[node], port, to, run.trace.vc[flit], KINDS[run.trace.kind[flit]], run.word(flit), run.stepOf(flit) || ""];
  });
  const columns = circuits ? ["data", "sent by", ...(circuits.parts ? ["contributions"] : [])] : ["VC", "kind", "data", "step"];
  return table(`${circuits ? "Words" : "Flits"} that leave routers in cycle ${cycle}`, ["node", "port", "to", ...columns], rows);
}
