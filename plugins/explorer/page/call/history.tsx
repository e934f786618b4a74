import { storedSignalOfUser } from '../base/remembered.ts'
import { text } from './texts.ts'

interface PastCall {
  /** Id as written by {@link idOf}. */
  readonly id: string
  readonly owner: string
  readonly args: readonly string[]
}

const MAX_CALLS = 50
const MAX_LENGTH = 2_000
const calls = storedSignalOfUser<readonly PastCall[]>('calls', [])

const isSame = (a: PastCall, b: PastCall): boolean =>
  a.id === b.id && a.owner === b.owner && a.args.join('\n') === b.args.join('\n')

/** Puts a call before the others, unless it is too long to be kept. */
export function remember(call: PastCall): void {
  if (call.args.join('').length > MAX_LENGTH) return
  calls.value = [call, ...calls.value.filter(each => !isSame(each, call))].slice(0, MAX_CALLS)
}

interface HistoryProps {
  readonly id: string
  readonly owner: string
  readonly onChoose: (args: readonly string[]) => void
}

/** Earlier calls of a function in this browser; choosing one fills the form. */
export function History({ id, owner, onChoose }: HistoryProps) {
  const pastCalls = calls.value.filter(each => each.id === id && each.owner === owner && each.args.some(Boolean))
  if (pastCalls.length === 0) return null
  return (
    <section class="history">
      <h3>{text('history')}</h3>
      <ul>
        {pastCalls.map(({ args }) => (
          <li key={args.join('\n')}>
            <button type="button" class="quiet" onClick={() => onChoose(args)}>
              <code>({args.filter(Boolean).join(', ')})</code>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
