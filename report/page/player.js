// Time: the current cycle, the sliders and buttons that change it, and playing.

const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 500];
const USUAL_SPEED = 10;
const OPENING_SECONDS = 5;
const OWN_KEYS = {
  " ": ["button", "summary"],
  ArrowLeft: ["input", ".scrolled"],
  ArrowRight: ["input", ".scrolled"],
}; // elements that have a use of their own for a key

class Player {
  /** `onCycle` is called for each new cycle, `onFrame` for each frame within a cycle. */
  constructor(onCycle, onFrame) {
    Object.assign(this, { onCycle, onFrame, cycle: 0, share: 0.5, playing: false, until: null });
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    const by = (id) => document.getElementById(id);
    [this.slider, this.steps, this.button, this.speed] = ["cycle", "step", "play", "speed"].map(by);
    this.speed.append(...SPEEDS.map((speed) => make("option", { value: speed }, `${speed} ${speed === 1 ? "cycle" : "cycles"} a second`)));
    this.speed.value = USUAL_SPEED;
    this.slider.addEventListener("input", () => this.go(+this.slider.value * this.unit));
    this.steps.addEventListener("input", () => this.goToStep(+this.steps.value));
    const actions = {
      play: () => this.toggle(),
      "cycle-back": () => this.goBy(-1),
      "cycle-on": () => this.goBy(1),
      "step-back": () => this.goByStep(-1),
      "step-on": () => this.goByStep(1),
    };
    for (const [id, action] of Object.entries(actions)) by(id).addEventListener("click", action);
    const keys = { k: "play", " ": "play", ",": "cycle-back", ".": "cycle-on", arrowleft: "cycle-back", arrowright: "cycle-on", "[": "step-back", "]": "step-on" };
    document.addEventListener("keydown", (event) => {
      const id = keys[event.key.toLowerCase()];
      if (!id || event.ctrlKey || event.metaKey || event.altKey || OWN_KEYS[event.key]?.some((own) => event.target.closest?.(own))) return;
      if (event.target.tagName === "SELECT" || by(id).hidden) return;
      event.preventDefault();
      actions[id]();
    });
  }

  /** Show another run, from its beginning or from the same cycle. */
  use(run) {
    this.pause();
    this.run = run;
    this.unit = run.bin ?? 1;
    this.slider.max = Math.ceil(run.cycles / this.unit);
    this.steps.max = Math.max(1, run.steps.end.length);
    document.getElementById("step-label").hidden = run.steps.end.length === 0;
    for (const id of ["step-back", "step-on"]) document.getElementById(id).hidden = run.steps.end.length === 0;
    this.go(Math.min(this.cycle, run.cycles));
  }

  go(cycle) {
    if (this.until !== null) this.pause();
    const last = this.unit * Math.ceil(this.run.cycles / this.unit);
    this.cycle = Math.max(0, Math.min(last, cycle));
    this.share = 0.5;
    this.show();
  }

  goBy(cycles) {
    this.pause();
    this.go(this.cycle + cycles * this.unit);
  }

  goToStep(step) {
    this.go(this.unit * Math.floor(this.run.steps.first[step - 1] / this.unit));
  }

  goByStep(steps) {
    this.pause();
    const now = this.run.stepAt(this.cycle);
    const begin = now ? this.run.steps.first[now - 1] : 0;
    // Like a music player, first go back to the begin of the current step.
    const to = steps < 0 && this.cycle > begin + 1 ? now : now + steps;
    if (to > this.run.steps.end.length) this.go(this.run.cycles);
    else if (to < 1) this.go(0);
    else this.goToStep(to);
  }

  /** Play from the beginning up to a cycle, slowly enough to follow; without motion, go there. */
  open(until) {
    if (this.calm.matches) {
      this.go(until);
      return;
    }
    this.speed.value = SPEEDS.find((speed) => speed >= until / OPENING_SECONDS) ?? SPEEDS.at(-1);
    this.play();
    this.until = until;
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.cycle >= this.run.cycles) this.go(0);
    this.setPlaying(true);
    this.share = 0;
    let before = performance.now();
    const frame = (now) => {
      if (!this.playing) return;
      const passed = ((now - before) / 1000) * +this.speed.value;
      before = now;
      this.share += Math.min(passed, 1000);
      const whole = Math.floor(this.share);
      this.share -= whole;
      if (whole) this.cycle = Math.min(this.cycle + whole * this.unit, this.run.cycles);
      if (this.until !== null) this.cycle = Math.min(this.cycle, this.until);
      if (this.cycle >= (this.until ?? this.run.cycles)) {
        this.pause();
      } else if (whole) {
        this.show();
      } else if (!this.calm.matches) {
        this.onFrame(this.cycle, this.share);
      }
      if (this.playing) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  pause() {
    if (!this.playing) return;
    this.setPlaying(false);
    if (this.until !== null) this.speed.value = USUAL_SPEED;
    this.until = null;
    this.share = 0.5;
    this.show();
  }

  setPlaying(playing) {
    this.playing = playing;
    this.button.setAttribute("aria-pressed", playing);
    this.button.setAttribute("aria-label", playing ? "Pause" : "Play");
    // While it plays, a screen reader would read without end.
    document.getElementById("now").setAttribute("aria-live", playing ? "off" : "polite");
  }

  show() {
    const step = this.run.stepAt(this.cycle);
    this.slider.value = Math.ceil(this.cycle / this.unit);
    this.slider.setAttribute("aria-valuetext", `cycle ${this.cycle} of ${this.run.cycles}`);
    this.steps.value = Math.max(1, step);
    const write = (id, text) => { document.getElementById(id).textContent = text; };
    const of = (now, all) => (this.secret ? now : `${now} / ${all}`);
    write("cycle-text", of(this.cycle, this.run.cycles));
    write("step-text", of(step, this.run.steps.end.length));
    this.onCycle(this.cycle);
    this.onFrame(this.cycle, this.calm.matches ? 0.5 : this.share);
  }
}
