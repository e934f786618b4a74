interface CurveProps {
  /** Values, oldest first; undefined where there is none. */
  readonly values: readonly (number | undefined)[]
  /** Number of values for which the width has room. */
  readonly length: number
  readonly unit: (value: number) => string
}

const WIDTH = 240
const HEIGHT = 60

/** A curve with zero at the bottom, and the maximum beside it. The newest value is at the right edge. */
export function Curve({ values, length, unit }: CurveProps) {
  const greatest = Math.max(0, ...values.map(value => value ?? 0))
  const step = WIDTH / (length - 1)
  const start = WIDTH - (values.length - 1) * step
  const y = (value: number): number => HEIGHT - 1 - (greatest === 0 ? 0 : (value / greatest) * (HEIGHT - 4))
  const points = values.flatMap((value, i) => (value === undefined ? [] : [[start + i * step, y(value)] as const]))
  const line = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')
  const [first, last] = [points[0], points.at(-1)]
  return (
    <div class="curve">
      <small>{greatest > 0 ? unit(greatest) : ''}</small>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {first && last && <polygon points={`${first[0]},${HEIGHT} ${line} ${last[0]},${HEIGHT}`} />}
        <polyline points={line} vector-effect="non-scaling-stroke" />
      </svg>
    </div>
  )
}
