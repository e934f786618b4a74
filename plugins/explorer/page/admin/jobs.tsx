import { useState } from 'preact/hooks'
import { time } from '../base/amounts.ts'
import { ask } from '../base/rest.ts'
import { List } from './list.tsx'
import { Part } from './part.tsx'
import { text } from './texts.ts'

type State = keyof typeof STATES

interface JobFunction {
  readonly job: string
  readonly plugin: string
  readonly concurrency: number
  readonly attempts: number
  readonly schedules?: readonly { readonly pattern: string; readonly timeZone?: string; readonly next?: string }[]
}

interface Summary {
  readonly functions: readonly JobFunction[]
  readonly counts: Readonly<Record<State, number>>
}

interface Job {
  readonly id: string
  readonly job: string
  readonly args: unknown
  readonly due?: string
  readonly begun?: string
  readonly ended?: string
  readonly attempts: number
  readonly error?: string
  readonly progress?: unknown
}

/** States and their names. */
const STATES = {
  waiting: 'jobsWaiting',
  ready: 'jobsReady',
  running: 'jobsRunning',
  done: 'jobsDone',
  failed: 'jobsFailed',
  cancelled: 'jobsCancelled',
} as const
const POLL_MS = 2_000
/** Characters of arguments and errors in the list. */
const MAX_TEXT = 200

async function act(id: string, action: 'cancel' | 'replay' | 'remove'): Promise<string> {
  if (action === 'remove') await ask(`$jobs/${id}`, {}, { method: 'DELETE' })
  else await ask(`$jobs/${id}/${action}`, {}, { method: 'POST' })
  return text(action === 'cancel' ? 'jobCancelled' : action === 'replay' ? 'jobReplayed' : 'jobRemoved')
}

async function replayAll(): Promise<string> {
  const { count } = await ask<{ count: number }>('$jobs/failed/replay', {}, { method: 'POST' })
  return text('jobsReplayed', { count })
}

/** Jobs of plugins: their functions, and the jobs in one state. */
export function Jobs() {
  const [state, setState] = useState<State>('failed')
  return (
    <>
      <Part<Summary> path="$jobs" pollMs={() => POLL_MS}>
        {({ functions, counts }) => (
          <>
            <div class="actions">
              {(Object.keys(counts) as State[]).map(each => (
                <button key={each} type="button" aria-pressed={each === state} onClick={() => setState(each)}>
                  {text(STATES[each])} {counts[each]}
                </button>
              ))}
            </div>
            <List
              title={text('jobFunctions')}
              rows={functions}
              idOf={({ job }) => job}
              columns={[
                { title: text('job'), show: ({ job }) => job },
                { title: text('plugin'), show: ({ plugin }) => plugin },
                {
                  title: text('schedules'),
                  show: ({ schedules = [] }) =>
                    schedules.map(({ pattern, timeZone, next }) => (
                      <div key={pattern}>
                        <code>{pattern}</code> {timeZone} {next !== undefined && time(next)}
                      </div>
                    )),
                },
              ]}
            />
          </>
        )}
      </Part>
      <JobsIn key={state} state={state} />
    </>
  )
}

function JobsIn({ state }: { readonly state: State }) {
  const isEnded = state === 'done' || state === 'failed' || state === 'cancelled'
  return (
    <Part<{ readonly jobs: readonly Job[] }> path={`$jobs/${state}`} pollMs={() => POLL_MS}>
      {({ jobs }, run) => (
        <>
          {state === 'failed' && (
            <button type="button" disabled={jobs.length === 0} onClick={() => run(replayAll)}>
              {text('replayAll')}
            </button>
          )}
          <List
            title={text(STATES[state])}
            rows={jobs}
            idOf={({ id }) => id}
            searched={({ id, job, args, error = '' }) => `${id} ${job} ${JSON.stringify(args)} ${error}`}
            columns={[
              { title: text('job'), show: ({ job }) => job },
              { title: text('time'), show: ({ due, begun, ended }) => time((ended ?? begun ?? due)!) },
              { title: text('attempts'), show: ({ attempts }) => attempts, isNumber: true },
              { title: text('arguments'), show: ({ args }) => <code>{JSON.stringify(args).slice(0, MAX_TEXT)}</code> },
              {
                title: text('outcome'),
                show: ({ error, progress }) =>
                  (error ?? (progress === undefined ? '' : JSON.stringify(progress))).slice(0, MAX_TEXT),
              },
              {
                title: text('action'),
                show: ({ id }) =>
                  isEnded ? (
                    <>
                      <button type="button" onClick={() => run(() => act(id, 'replay'))}>
                        {text('replay')}
                      </button>
                      <button type="button" onClick={() => run(() => act(id, 'remove'))}>
                        {text('removeJob')}
                      </button>
                    </>
                  ) : (
                    <button type="button" onClick={() => run(() => act(id, 'cancel'))}>
                      {text('cancelJob')}
                    </button>
                  ),
              },
            ]}
          />
        </>
      )}
    </Part>
  )
}
