// The span of time that all pictures of a page show.

export class Span extends EventTarget {
  from = 0; to = 1; first = 0; last = 1;

  // over says what there is to show. A whole stays whole, anything else where it is.
  over(first, last) {
    const whole = this.whole;
    this.first = first;
    this.last = Math.max(last, first + 1);
    if (whole || this.to > this.last) [this.from, this.to] = [this.first, this.last];
    this.#tell();
  }

  get whole() { return this.from === this.first && this.to === this.last; }

  // show shows from one instant to another, within what there is.
  show(from, to) {
    const all = this.last - this.first, size = Math.min(all, Math.max(to - from, Math.min(all, Math.max(all / 50000, 10_000))));
    this.from = Math.max(this.first, Math.min(this.last - size, (from + to - size) / 2));
    this.to = this.from + size;
    this.#tell();
  }

  zoom(by, around = (this.from + this.to) / 2) {
    const size = (this.to - this.from) * by, share = (around - this.from) / (this.to - this.from);
    this.show(around - share * size, around + (1 - share) * size);
  }

  move(share) {
    const by = share * (this.to - this.from), back = Math.min(this.last - this.to, Math.max(this.first - this.from, by));
    this.show(this.from + back, this.to + back);
  }

  all() { this.show(this.first, this.last); }

  #tell() { this.dispatchEvent(new Event("change")); }
}
