/**
 * Positions in a list that may be higher than browsers let an element be (Firefox ends at 17.8 million pixels): the scroll bar
 * is that of an element of at most {@link MAX_HEIGHT}. Small steps, of a wheel or of keys, move list and bar alike; a long one,
 * which is a drag of the bar, leads to the same share of the list. Heights are in pixels.
 */
export class Track {
  /** Position in the list less position of the bar. */
  shift = 0
  private bar = 0

  constructor(
    public height = 0,
    public view = 0,
  ) {}

  /** Height of the element that scrolls. */
  get barHeight(): number {
    return Math.min(this.height, MAX_HEIGHT)
  }

  private get barEnd(): number {
    return Math.max(0, this.barHeight - this.view)
  }

  private get end(): number {
    return Math.max(0, this.height - this.view)
  }

  /** First pixel of the list that is in view. */
  get top(): number {
    return Math.min(Math.max(0, this.bar + this.shift), this.end)
  }

  /** Called after the bar has moved. */
  moveBar(bar: number): void {
    const isStep = Math.abs(bar - this.bar) <= 2 * this.view
    this.bar = bar
    if (this.height === this.barHeight) this.shift = 0
    else if (!isStep || bar <= 0 || bar >= this.barEnd) this.shift = Math.round(bar * (this.end / this.barEnd)) - bar
  }

  /** Goes to a position of the list. @returns where the bar belongs then */
  moveTo(top: number): number {
    const target = Math.min(Math.max(0, top), this.end)
    this.bar = this.end === 0 ? 0 : Math.round(target * (this.barEnd / this.end))
    this.shift = target - this.bar
    return this.bar
  }
}

export const MAX_HEIGHT = 8_000_000
