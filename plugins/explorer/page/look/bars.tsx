import { useRef } from 'preact/hooks'
import { number } from '../base/texts.ts'
import { ticks } from './bins.ts'
import { useWidth } from './use-width.ts'

interface Bar {
  readonly from: number
  readonly to: number
  /** Value shown as the height of the bar. */
  readonly value: number
  readonly label: string
  readonly link: string | undefined
}

interface BarsProps {
  readonly label: string
  readonly bars: readonly Bar[]
  /** Formats a value for the axis below. */
  readonly formatAxis: (value: number) => string
}

const HEIGHT = 280
const LEFT = 64
const RIGHT = 24
const TOP = 12
const BOTTOM = 28
const PER_MARK = 84

/** A histogram: bars over consecutive ranges, each a link. */
export function Bars({ label, bars, formatAxis }: BarsProps) {
  const element = useRef<HTMLDivElement>(null)
  const width = useWidth(element)
  const inner = Math.max(0, width - LEFT - RIGHT)
  const values = bars.map(({ value }) => value)
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  const marks = ticks(low, high === low ? low + 1 : high, 5)
  const top = Math.max(high, marks.at(-1)!)
  const y = (value: number): number => TOP + ((top - value) / (top - low || 1)) * (HEIGHT - TOP - BOTTOM)
  const x = (index: number): number => LEFT + (index * inner) / bars.length
  const every = Math.max(1, Math.ceil((bars.length * PER_MARK) / (inner || 1)))
  const gap = inner / bars.length > 6 ? 1 : 0
  return (
    <div class="bars" ref={element}>
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-label={label}>
          {marks.map(mark => (
            <g key={mark}>
              <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y(mark)} y2={y(mark)} />
              <text class="mark" x={LEFT - 8} y={y(mark) + 4} text-anchor="end">
                {number(mark, { notation: 'compact' })}
              </text>
            </g>
          ))}
          {bars.map(({ from, value, label, link }, i) => {
            const shape = (
              <>
                <title>{label}</title>
                <rect class="hit" x={x(i)} y={TOP} width={inner / bars.length} height={HEIGHT - TOP - BOTTOM} />
                <rect
                  class="bar"
                  x={x(i) + gap}
                  y={Math.min(y(value), y(0))}
                  width={Math.max(1, inner / bars.length - 2 * gap)}
                  height={Math.max(value === 0 ? 0 : 1, Math.abs(y(0) - y(value)))}
                />
              </>
            )
            return link === undefined ? (
              <g key={from}>{shape}</g>
            ) : (
              <a key={from} href={link} aria-label={label}>
                {shape}
              </a>
            )
          })}
          <line class="axis" x1={LEFT} x2={width - RIGHT} y1={y(0)} y2={y(0)} />
          {[...bars.map(({ from }) => from), ...bars.slice(-1).map(({ to }) => to)].map(
            (edge, i) =>
              i % every === 0 && (
                <text key={edge} class="mark" x={x(i)} y={HEIGHT - 8} text-anchor="middle">
                  {formatAxis(edge)}
                </text>
              ),
          )}
        </svg>
      )}
    </div>
  )
}
