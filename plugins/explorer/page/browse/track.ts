/**
 * Positions in a list that may be higher than browsers allow an element to be (Firefox ends at 17.8 million pixels): the scroll bar
 * belongs to an element of at most {@link MAX_HEIGHT}. Small steps, by wheel or keys, move list and bar equally; a long one,
 * a drag of the bar, moves to the proportional position of the list. Heights are in pixels.
 */
export class Track {
  /** Position in the list minus position of the bar. */
  shift = 0
  private bar = 0

  constructor(
    public height = 0,
    public view = 0,
  ) {}

  /** Height of the scrolling element. */
  get barHeight(): number {
    return Math.min(this.height, MAX_HEIGHT)
  }

  private get barEnd(): number {
    return Math.max(0, this.barHeight - this.view)
  }

  private get end(): number {
    return Math.max(0, this.height - this.view)
  }

  /** First visible pixel of the list. */
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

  /** Moves to a position of the list. @returns the position of the bar */
  moveTo(top: number): number {
    const target = Math.min(Math.max(0, top), this.end)
    this.bar = this.end === 0 ? 0 : Math.round(target * (this.barEnd / this.end))
    this.shift = target - this.bar
    return this.bar
  }
}

export const MAX_HEIGHT = 8_000_000
