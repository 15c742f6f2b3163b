// The page of `eyecast explore`: sends its parameters, and frames the page of the run.

const byId = (id) => document.getElementById(id);
const form = byId("state");
const fields = [...form.elements].filter((each) => each.name);
const usual = Object.fromEntries(fields.map((each) => [each.name, each.tagName === "SELECT" ? null : each.value]));
const shown = { now: null, kept: null }; // the answer of each frame
let choices;
let asked;

/** Offer names in a choice. */
function offer(name, names) {
  const select = form.elements[name];
  const before = select.value;
  select.replaceChildren(...names.map((each) => new Option(each)));
  if (names.includes(before)) select.value = before;
}

/** Show the parameters that the collective has, and its algorithms. */
function arrange(collective) {
  const traffic = !(collective in choices.algorithms);
  const circuits = !traffic && form.elements.circuits.value;
  const hidden = { collective: traffic, traffic: !traffic, rooted: !choices.rooted.includes(collective), packets: circuits };
  for (const label of form.querySelectorAll("label[class]")) label.hidden = [...label.classList].some((name) => hidden[name]);
  if (!traffic) offer("algorithm", choices.algorithms[collective]);
}

/** Return the state that the server gets: what the parameters are, with numbers as numbers. */
function state() {
  const values = fields.map((each) => [each.name, each.type === "number" ? +each.value : each.value]);
  return { ...Object.fromEntries(values), circuits: Boolean(form.elements.circuits.value) };
}

/** Return the link of a state: only the parameters that differ from the first ones. */
function linkOf(answered) {
  const pairs = Object.entries(answered).map(([name, value]) => [name, value === false ? "" : value === true ? "1" : String(value)]);
  const others = pairs.filter(([name, value]) => value !== usual[name]);
  return `#${new URLSearchParams(others)}`;
}

function read(link) {
  const given = new URLSearchParams(link.slice(1));
  for (const each of fields) each.value = given.get(each.name) ?? usual[each.name];
  arrange(form.elements.collective.value);
  form.elements.algorithm.value = given.get("algorithm") ?? usual.algorithm;
}

/** Ask for the run of the parameters, and show it, unless they change again. */
async function run() {
  if (!form.reportValidity()) return;
  asked?.abort();
  asked = new AbortController();
  byId("now").classList.add("waits");
  try {
    const body = JSON.stringify(state());
    const response = await fetch("run", { method: "POST", body, signal: asked.signal });
    const { answer, page, error } = await response.json();
    byId("trouble").hidden = !error;
    byId("trouble").textContent = error ?? "";
    if (answer) show("now", answer, page);
  } catch (error) {
    if (error.name === "AbortError") return;
    byId("trouble").hidden = false;
    byId("trouble").textContent = "Eyecast has ended: start eyecast explore again.";
  }
  byId("now").classList.remove("waits");
}

function show(id, answer, page) {
  const home = byId(id);
  shown[id] = { ...answer, link: location.href.split("#")[0] + linkOf(answer.state), page };
  const waiting = answer.waiting.map((line) => Object.assign(document.createElement("li"), { textContent: line }));
  const facts = answer.facts.map(([name, value]) => {
    const fact = document.createElement("span");
    const number = document.createElement("b");
    number.textContent = value;
    fact.append(`${name} `, number);
    return fact;
  });
  home.querySelector(".facts").replaceChildren(...facts);
  home.querySelector(".command").textContent = answer.command;
  home.querySelector(".waiting").hidden = !waiting.length;
  home.querySelector(".waiting ul").replaceChildren(...waiting);
  home.querySelector("iframe").contentWindow.location.replace(new URL(page, location.href));
  home.hidden = false;
  if (id !== "now") return;
  document.title = `${answer.title} · Eyecast`;
  form.elements.algorithm.value = answer.state.algorithm;
  history.replaceState(null, "", shown.now.link);
}

/** Let a click in the drawing break or mend what is there, or make it the root. */
function listen(frame) {
  frame.contentDocument.addEventListener("click", (event) => {
    const name = byId("click").value;
    const place = name && event.target.closest?.("[data-node], [data-link]");
    if (!place || (name === "source" && !("node" in place.dataset))) return;
    event.stopPropagation();
    const nodes = place.getAttribute("aria-label").replace(/,? (broken|the root|a switch).*/, "").match(/\([^)]*\)|\b\d+\b/g);
    const text = nodes.slice(0, 2).join(":").replace(/[()]/g, "");
    const field = form.elements[name];
    const texts = name === "faults" ? field.value.split(/\s+/).filter(Boolean) : [];
    field.value = (texts.includes(text) ? texts.filter((each) => each !== text) : [...texts, text]).join(" ");
    run();
  }, true);
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("change", ({ target }) => {
  if (!target.name) return;
  if (target.name === "network") {
    const fresh = { size: choices.networks[target.value], faults: "", source: "0" };
    for (const [name, value] of Object.entries(fresh)) form.elements[name].value = value;
  }
  if (["collective", "circuits"].includes(target.name)) arrange(form.elements.collective.value);
  if (["collective", "network", "ports"].includes(target.name)) form.elements.algorithm.value = "";
  run();
});
byId("keep").addEventListener("click", () => shown.now && show("kept", shown.now, shown.now.page));
byId("drop").addEventListener("click", () => { byId("kept").hidden = true; });
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(shown[button.closest("section").id][button.dataset.copy]);
    const name = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = name; }, 1500);
  });
}
for (const frame of document.querySelectorAll("iframe")) frame.addEventListener("load", () => listen(frame));
addEventListener("hashchange", () => {
  read(location.hash);
  run();
});

new EventSource("open"); // as long as it is open, the server stays
choices = await (await fetch("choices")).json();
offer("network", Object.keys(choices.networks));
offer("collective", choices.collectives);
offer("pattern", choices.patterns);
for (const [name, [least, most]] of Object.entries(choices.limits)) Object.assign(form.elements[name], { min: least, max: most });
for (const each of fields) usual[each.name] ??= each.value;
Object.assign(usual, { algorithm: "eye" });
read(location.hash);
await run();
document.documentElement.dataset.ready = "";
