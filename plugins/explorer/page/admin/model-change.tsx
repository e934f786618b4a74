import { useState } from 'preact/hooks'
import { time } from '../base/amounts.ts'
import { ask } from '../base/rest.ts'
import { Part } from './part.tsx'
import { text } from './texts.ts'

interface Answer {
  readonly state: 'none' | 'running' | 'ready' | 'failed'
  readonly since?: string
  readonly changes?: readonly string[]
  readonly step?: {
    readonly dataClass: string
    readonly what: 'check' | 'rewrite' | 'index' | 'catchUp'
    readonly done: number
    readonly total: number
  } | null
  readonly error?: string
}

const POLL_MS = 1_000

const STATES: Readonly<Record<Answer['state'], () => string>> = {
  none: () => text('changeNone'),
  running: () => text('changeRunning'),
  ready: () => text('changeReady'),
  failed: () => text('changeFailed'),
}

const STEPS: Readonly<Record<NonNullable<Answer['step']>['what'], () => string>> = {
  check: () => text('stepCheck'),
  rewrite: () => text('stepRewrite'),
  index: () => text('stepIndex'),
  catchUp: () => text('stepCatchUp'),
}

/** A change of the model that is prepared while the server keeps running. */
export function ModelChange() {
  const [allowLoss, setAllowLoss] = useState(false)
  const send = (method: 'POST' | 'DELETE', notice: string) => async (): Promise<string> => {
    await ask('$migrate', allowLoss ? { $allowLoss: 'true' } : {}, { method })
    return notice
  }
  return (
    <Part<Answer> path="$migrate" pollMs={({ state }) => (state === 'running' ? POLL_MS : undefined)}>
      {({ state, since, changes = [], step, error }, act) => (
        <>
          <p class="hint">{text('modelChangeHint')}</p>
          <p role="status">
            <b>{STATES[state]()}</b> {since !== undefined && <small>{time(since)}</small>}
          </p>
          {step && (
            <p>
              <progress value={step.done} max={step.total} aria-label={STEPS[step.what]()} /> {STEPS[step.what]()}{' '}
              {step.dataClass}
            </p>
          )}
          {error !== undefined && <pre class="fault">{error}</pre>}
          <ul>
            {changes.map(change => (
              <li key={change}>{change}</li>
            ))}
          </ul>
          <div class="actions">
            <button
              type="button"
              disabled={state === 'running'}
              onClick={() => act(send('POST', text('modelChangeBegun')))}
            >
              {text(state === 'ready' ? 'takeOver' : 'prepare')}
            </button>
            <label>
              <input
                type="checkbox"
                checked={allowLoss}
                onChange={({ currentTarget }) => setAllowLoss(currentTarget.checked)}
              />{' '}
              {text('allowLoss')}
            </label>
            {state !== 'none' && (
              <button type="button" onClick={() => act(send('DELETE', text('modelChangeRemoved')))}>
                {text('removeCopy')}
              </button>
            )}
          </div>
        </>
      )}
    </Part>
  )
}
