// Zoom and pan of an element: by wheel (with Ctrl, or in focus), by keys, and by fingers.

const MOST_ZOOM = 64;
const CLICK_PIXELS = 4; // a longer way of the pointer is no click

class View {
  /** `onChange` is called when `x` and `y`, the shares that are hidden before the visible part, or
   * `zoom`, the times that it is magnified, have changed. */
  constructor(element, onChange) {
    Object.assign(this, { element, onChange, x: 0, y: 0, zoom: 1, pointers: new Map(), way: 0 });
    element.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !element.matches(":focus, :focus-within")) return;
      event.preventDefault();
      this.by(2 ** (-event.deltaY / 300), this.shareOf(event));
    }, { passive: false });
    element.addEventListener("pointerdown", (event) => {
      if (!this.pointers.size) this.way = 0;
      this.pointers.set(event.pointerId, this.shareOf(event));
    });
    element.addEventListener("pointermove", (event) => this.drag(event));
    for (const type of ["pointerup", "pointercancel", "pointerleave"]) element.addEventListener(type, (event) => this.pointers.delete(event.pointerId));
    element.addEventListener("click", (event) => this.way > CLICK_PIXELS && event.stopPropagation(), true);
  }

  /** Return the position of a pointer, as shares of the element's sides. */
  shareOf(event) {
    const { left, top, width, height } = this.element.getBoundingClientRect();
    return [(event.clientX - left) / width, (event.clientY - top) / height];
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.shareOf(event);
    this.way += Math.abs(event.movementX) + Math.abs(event.movementY);
    this.pointers.set(event.pointerId, now);
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const apart = ([x, y]) => Math.hypot(x - other[0], y - other[1]);
      this.by(apart(now) / apart(before), other);
    } else this.move(before[0] - now[0], before[1] - now[1]);
  }

  /** Magnify by a factor; the point at these shares of the element's sides stays where it is. */
  by(factor, [across, down] = [0.5, 0.5]) {
    const zoom = Math.max(1, Math.min(MOST_ZOOM, this.zoom * factor));
    this.x += across / this.zoom - across / zoom;
    this.y += down / this.zoom - down / zoom;
    this.zoom = zoom;
    this.move(0, 0);
  }

  /** Move the visible part by shares of its sides. */
  move(across, down) {
    const most = 1 - 1 / this.zoom;
    this.x = Math.max(0, Math.min(most, this.x + across / this.zoom));
    this.y = Math.max(0, Math.min(most, this.y + down / this.zoom));
    // A finger scrolls the page unless there is something to move.
    this.element.style.touchAction = this.zoom > 1 ? "none" : "pan-x pan-y";
    this.onChange();
  }

  /** Zoom by the keys +, - and 0; return whether this was one of them. */
  key(event) {
    const factor = { "+": 1.5, "=": 1.5, "-": 1 / 1.5, 0: 1 / MOST_ZOOM }[event.key];
    if (!factor || event.ctrlKey || event.metaKey || event.altKey) return false;
    this.by(factor);
    return true;
  }
}
