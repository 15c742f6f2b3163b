// The page of a notebook: the network and its time, without panels and plots.

async function open() {
  const content = await unpack(document.getElementById("data").textContent);
  const write = (id, text) => { document.getElementById(id).textContent = text; };
  const run = new Run(content.runs[content.chosen], content.network);
  const drawing = new Drawing(document.getElementById("stage"), content.network, () => {});
  let [color] = Object.values(colorings(run));
  const frame = (cycle, share) => run.detailed && drawing.drawFlits(run, cycle, share, color);
  const player = new Player((cycle) => {
    drawing.show(run, cycle, run.detailed ? "plain" : "bin");
    write("now", sentence(run, cycle));
    write("seen", seen(run, cycle));
  }, frame);
  drawing.redraw = () => frame(player.cycle, 0.5);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    forgetColors();
    [color] = Object.values(colorings(run));
    drawing.redraw();
  });
  write("title", content.title);
  drawing.showRun(run);
  player.use(run);
  player.go(run.detailed ? run.opening : 0);
  document.documentElement.dataset.ready = "";
}

open();
