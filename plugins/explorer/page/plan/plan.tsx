import { readWithHead } from '../base/rest.ts'
import { parametersOf, pathOf, type Selection, selection } from '../base/selection.ts'
import { number } from '../base/texts.ts'
import { Fault } from '../components/fault.tsx'
import { useAnswer } from '../components/use-answer.ts'
import { Waiting } from '../components/waiting.tsx'
import { costOf, isHidden, type PlannedStep, type Step, stepsOf, type TraceStep, withPlanned } from './steps.ts'
import { text } from './texts.ts'
import './plan.css'

interface Explained {
  readonly count: number
  readonly steps: readonly Step[]
  readonly bytes: number
  /** Timing of the request as the browser recorded it; undefined if it records none. */
  readonly timing: PerformanceResourceTiming | undefined
}

/** Number of requested entities, as in a page of the grid. */
const PAGE = 40

/** Shows how the server executes the filter of the selection, with the rows and the time of each step. */
export function Plan() {
  const currentSelection = selection.value!
  const { dataClass, filter, order, set, similar } = currentSelection
  const answer = useAnswer(signal => loadPlan(currentSelection, signal), [dataClass, filter, order, set, similar])
  const { result, error, isLoading, again } = answer
  return (
    <section class="plan" aria-label={text('title')} aria-busy={isLoading}>
      <header>
        <h2>{text('title')}</h2>
        <button type="button" onClick={again}>
          {text('again')}
        </button>
        <Waiting label={text('loading')} {...answer} again={undefined} />
      </header>
      {error !== undefined && <Fault error={error} />}
      {result && <Picture plan={result} />}
    </section>
  )
}

async function loadPlan(currentSelection: Selection, signal: AbortSignal): Promise<Explained> {
  const key = currentSelection.dataClass.key[0]?.name
  // The browser's list is limited, and accepts no further entries when it is full.
  performance.clearResourceTimings()
  const start = performance.now()
  const { answer, response, body } = await readWithHead<{
    readonly __COUNT: number
    readonly __queryPlan?: PlannedStep
    readonly __queryPath?: { readonly steps: readonly TraceStep[] }
  }>(
    pathOf(currentSelection),
    { ...parametersOf(currentSelection), $queryplan: true, $querypath: true, $top: PAGE, $attributes: key },
    signal,
  )
  const timing = await timingOf(response.url, start)
  const { __queryPlan, __queryPath } = answer
  const steps = withPlanned(stepsOf(__queryPath?.steps ?? []), __queryPlan ? [__queryPlan] : [])
  return { count: answer.__COUNT, steps, bytes: body.length, timing }
}

const TRIES = 10
const TRY_AGAIN_MS = 30

/** Timing of a request to an address since `start`, which the browser lists soon after the answer. */
async function timingOf(address: string, start: number): Promise<PerformanceResourceTiming | undefined> {
  for (let i = 0; i < TRIES; i++) {
    const entries = performance.getEntriesByName(address, 'resource') as PerformanceResourceTiming[]
    const timing = entries.findLast(({ startTime }) => startTime >= start)
    if (timing) return timing
    await new Promise(resolve => setTimeout(resolve, TRY_AGAIN_MS))
  }
  return undefined
}

const milliseconds = (time: number): string =>
  text('milliseconds', { time: number(time, { maximumFractionDigits: time < 1 ? 3 : time < 100 ? 1 : 0 }) })

function Picture({ plan: { count, steps, bytes, timing } }: { readonly plan: Explained }) {
  const entries: [string, string][] = [[text('entities'), number(count)]]
  if (timing) {
    const { startTime, responseStart, responseEnd, encodedBodySize } = timing
    entries.push([text('total'), milliseconds(responseEnd - startTime)])
    // Some browser settings hide these.
    if (responseStart > 0) {
      entries.push(
        [text('waiting'), milliseconds(responseStart - startTime)],
        [text('receiving'), milliseconds(responseEnd - responseStart)],
        [text('compressed'), number(encodedBodySize)],
      )
    }
  }
  entries.push([text('bytes'), number(bytes)])
  const total = steps.reduce((sum, { time = 0 }) => sum + time, 0)
  return (
    <>
      <dl class="summary">
        {entries.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {steps.length === 0 ? (
        <p class="hint">{text('none')}</p>
      ) : (
        <ol class="steps" aria-label={text('steps')}>
          <Steps steps={steps} total={total} start={0} />
        </ol>
      )}
      {isHidden(steps) && <p class="hint">{text('hidden')}</p>}
    </>
  )
}

interface StepsProps {
  readonly steps: readonly Step[]
  /** Time of all steps, in milliseconds. */
  readonly total: number
  /** Time before the first of these steps, in milliseconds. */
  readonly start: number
}

function Steps({ steps, total, start }: StepsProps) {
  let from = start
  return (
    <>
      {steps.map((step, i) => {
        const { description, time = 0, own = 0, rows, isSkipped, steps: below } = step
        const begin = from
        from += time
        const percent = (value: number): string => `${total > 0 ? (100 * value) / total : 0}%`
        return (
          <li key={`${i} ${description}`}>
            <div class={isSkipped ? 'step skipped' : 'step'}>
              <code>{description}</code>
              {isSkipped && <span class="rows">{text('skipped')}</span>}
              {step.time !== undefined && (
                <>
                  <span class="rows">{rows !== undefined && text('rows', { count: rows })}</span>
                  <span class="time" title={below.length > 0 ? text('own', { time: own }) : undefined}>
                    {milliseconds(time)}
                  </span>
                  <span class="track" aria-hidden="true">
                    <span
                      class={costOf(total > 0 ? own / total : 0)}
                      style={{ marginLeft: percent(begin), width: percent(time) }}
                    />
                  </span>
                </>
              )}
            </div>
            {below.length > 0 && (
              <ol>
                <Steps steps={below} total={total} start={begin} />
              </ol>
            )}
          </li>
        )
      })}
    </>
  )
}
