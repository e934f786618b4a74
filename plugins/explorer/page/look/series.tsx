import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { colourOf } from '../base/download.ts'
import { language, number } from '../base/texts.ts'
import { theme } from '../shell/theme.ts'
import type { Range } from './bins.ts'
import { useWidth } from './use-width.ts'

interface Point extends Range {
  readonly value: number | null
}

interface SeriesProps {
  readonly label: string
  readonly timeLabel: string
  readonly points: readonly Point[]
  readonly formatTime: (range: Range) => string
  /** Called with the positions of the first and the last chosen point. */
  readonly onChoose: (first: number, last: number) => void
}

const HEIGHT = 300

/** A time series. The user chooses a range by dragging, or a point by clicking. */
export function Series({ label, timeLabel, points, formatTime, onChoose }: SeriesProps) {
  const element = useRef<HTMLDivElement>(null)
  const width = useWidth(element)
  const choose = useRef(onChoose)
  choose.current = onChoose
  useEffect(() => {
    if (width === 0 || points.length === 0) return
    const [accent, faint, line] = ['--accent', '--faint', '--line'].map(colourOf)
    const axis = { stroke: faint, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } }
    const plot = new uPlot(
      {
        width,
        height: HEIGHT,
        tzDate: seconds => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
        cursor: { drag: { setScale: false, x: true, y: false } },
        legend: { show: true, live: true },
        scales: { y: { range: (_, min, max) => [Math.min(0, min ?? 0), Math.max(max ?? 0, 1e-9) * 1.05] } },
        axes: [
          { ...axis, values: (_, splits) => axisTexts(splits) },
          { ...axis, size: 64, values: (_, splits) => splits.map(each => number(each, { notation: 'compact' })) },
        ],
        series: [
          { label: timeLabel, value: (_, __, ___, index) => (index === null ? '' : formatTime(points[index]!)) },
          {
            label,
            stroke: accent,
            width: 1.5,
            fill: faded(accent!),
            points: { show: points.length < 80, size: 5, fill: accent },
            value: (_, value) => (value === null ? '' : number(value, { maximumFractionDigits: 2 })),
          },
        ],
        hooks: {
          setSelect: [
            ({ select, posToIdx }) => {
              if (select.width > 2) choose.current(posToIdx(select.left), posToIdx(select.left + select.width))
            },
          ],
        },
      },
      [points.map(({ from }) => from / 1000), points.map(({ value }) => value)],
      element.current!,
    )
    const onClick = (): void => {
      const { idx } = plot.cursor
      if (typeof idx === 'number' && plot.select.width <= 2) choose.current(idx, idx)
    }
    plot.over.addEventListener('click', onClick)
    return () => plot.destroy()
  }, [width, points, label, theme.value, language.value])
  return <div class="series" role="img" aria-label={label} ref={element} />
}

const faded = (colour: string): string => colour.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.18)')

/** Labels of the axis: years if they differ, otherwise days or hours. */
function axisTexts(splits: readonly number[]): string[] {
  const dates = splits.map(seconds => new Date(seconds * 1000))
  const step = (splits[1] ?? 0) - (splits[0] ?? 0)
  const options: Intl.DateTimeFormatOptions =
    step >= 300 * 86_400
      ? { year: 'numeric' }
      : step >= 27 * 86_400
        ? { year: 'numeric', month: 'short' }
        : step >= 86_400
          ? { day: 'numeric', month: 'short' }
          : { day: 'numeric', hour: '2-digit', minute: '2-digit' }
  return dates.map(date => date.toLocaleString(language.value, { ...options, timeZone: 'UTC' }))
}
