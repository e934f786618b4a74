interface SparklineProps {
  readonly values: readonly number[]
  readonly width?: number
  readonly height?: number
  /** Label for screen readers. */
  readonly label: string
}

/** The elements of a vector as a line. */
export function Sparkline({ values, width = 120, height = 18, label }: SparklineProps) {
  const least = Math.min(...values)
  const span = Math.max(...values) - least || 1
  const step = width / Math.max(1, values.length - 1)
  const points = values.map(
    (value, at) => `${(at * step).toFixed(1)},${(height - 1 - ((value - least) / span) * (height - 2)).toFixed(1)}`,
  )
  return (
    <svg
      class="sparkline"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={label}
    >
      <polyline points={points.join(' ')} fill="none" stroke="currentColor" />
    </svg>
  )
}
