import { useEffect, useState } from 'preact/hooks'
import { ask, isAbort } from '../base/rest.ts'
import { number } from '../base/texts.ts'
import { Fault } from '../components/fault.tsx'
import { bytes } from '../base/amounts.ts'
import { type Figures, figuresOf, type Reading, readingOf } from './figures.ts'
import { Curve } from './curve.tsx'
import { text } from './texts.ts'

const PERIOD_MS = 2_000
const KEPT = 31

const CHARTS = [
  { figure: 'requests', unit: rate },
  { figure: 'latency', unit: milliseconds },
  { figure: 'latency95', unit: milliseconds },
  { figure: 'rows', unit: rate },
  { figure: 'changes', unit: rate },
  { figure: 'poolTasks', unit: count },
  { figure: 'processors', unit: fraction },
  { figure: 'memory', unit: bytes },
] as const satisfies readonly { figure: keyof Figures; unit: (value: number) => string }[]

function rate(value: number): string {
  return text('perSecond', { value: number(value, { maximumSignificantDigits: 3 }) })
}
function milliseconds(value: number): string {
  return `${number(value, { maximumSignificantDigits: 3 })} ms`
}
function count(value: number): string {
  return number(value)
}
function fraction(value: number): string {
  return number(value, { maximumFractionDigits: 2 })
}

/** Measurements of the last minute. The server is polled while the page is visible. */
export function Live() {
  const [readings, setReadings] = useState<readonly Reading[]>([])
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    const controller = new AbortController()
    const read = async (): Promise<void> => {
      if (document.hidden) return
      try {
        const { metrics } = await ask<{ metrics: Parameters<typeof readingOf>[1] }>(
          '$info/metrics',
          {},
          { signal: controller.signal },
        )
        const reading = readingOf(performance.now(), metrics)
        setReadings(before => [...before, reading].slice(-KEPT))
        setError(undefined)
      } catch (fault) {
        if (!isAbort(fault)) setError(fault)
      }
    }
    void read()
    const timer = setInterval(() => void read(), PERIOD_MS)
    return () => {
      clearInterval(timer)
      controller.abort()
    }
  }, [])
  const figures = readings.slice(1).map((reading, i) => figuresOf(readings[i]!, reading))
  return (
    <>
      {error !== undefined && <Fault error={error} />}
      <div class="charts">
        {CHARTS.map(({ figure, unit }) => {
          const values = figures.map(each => each[figure])
          const last = values.at(-1)
          return (
            <figure key={figure}>
              <figcaption>{text(figure)}</figcaption>
              <b>{last === undefined ? '–' : unit(last)}</b>
              <Curve values={values} length={KEPT - 1} unit={unit} />
            </figure>
          )
        })}
      </div>
      <p class="hint">{text('liveHint')}</p>
    </>
  )
}
