import { useEffect, useState } from 'preact/hooks'
import { linkWith, place } from '../base/place.ts'
import { addressOf, readAnswer, isAbort, type Parameters, respond } from '../base/rest.ts'
import { CopyRequest } from '../components/copy-as.tsx'
import { Fault } from '../components/fault.tsx'
import { Waiting } from '../components/waiting.tsx'
import { ArgumentList } from './argument-list.tsx'
import { type Call, type Callable, idOf, outcomeOf, readArgument, requestOf, type Returned } from './calls.ts'
import { History, remember } from './history.tsx'
import { OutcomeView } from './outcome-view.tsx'
import { text } from './texts.ts'
import './call.css'

interface CallPanelProps {
  readonly callables: readonly Callable[]
  readonly defaultKey?: string
  readonly targetOf: (callable: Callable, key: string) => string
  /** Parameters of the shown selection. */
  readonly narrowing?: Parameters
}

/** A list of functions, the form of the chosen one, and its result. */
export function CallPanel({ callables, defaultKey = '', targetOf, narrowing }: CallPanelProps) {
  const id = place.value.query.function
  const callee = callables.find(each => idOf(each) === id) ?? (callables.length === 1 ? callables[0] : undefined)
  return (
    <div class="call">
      <FunctionList callables={callables} callee={callee} />
      {callee ? (
        <CallForm
          key={idOf(callee)}
          callable={callee}
          defaultKey={defaultKey}
          targetOf={targetOf}
          narrowing={narrowing}
        />
      ) : (
        <p class="hint">{text('chooseFunction')}</p>
      )}
    </div>
  )
}

function FunctionList({ callables, callee }: { callables: readonly Callable[]; callee: Callable | undefined }) {
  const titleOf = ({ applyTo, owner }: Callable): string =>
    applyTo === 'singleton' ? text(applyTo, { name: owner }) : text(applyTo)
  const titles = [...new Set(callables.map(titleOf))]
  return (
    <nav aria-label={text('functions')}>
      {titles.map(title => (
        <section key={title}>
          <h2>{title}</h2>
          <ul>
            {callables
              .filter(each => titleOf(each) === title)
              .map(each => (
                <li key={idOf(each)}>
                  <a href={linkWith({ function: idOf(each) })} aria-current={each === callee ? 'true' : undefined}>
                    {each.name}
                  </a>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}

interface CallFormProps {
  readonly callable: Callable
  readonly defaultKey: string
  readonly targetOf: CallPanelProps['targetOf']
  readonly narrowing: Parameters | undefined
}

function CallForm({ callable, defaultKey, targetOf, narrowing }: CallFormProps) {
  const [args, setArgs] = useState<readonly string[]>([])
  const [key, setKey] = useState(defaultKey)
  const [byGet, setByGet] = useState(false)
  const [keeps, setKeeps] = useState(false)
  const [activeController, setActiveController] = useState<AbortController>()
  const [result, setResult] = useState<Returned>()
  const [error, setError] = useState<unknown>()
  const [isCancelled, setCancelled] = useState(false)
  useEffect(() => () => activeController?.abort(), [activeController])

  const run = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (activeController || args.some(each => readArgument(each).kind === 'wrong')) return
    const controller = new AbortController()
    setActiveController(controller)
    setError(undefined)
    setCancelled(false)
    remember({ id: idOf(callable), owner: callable.owner, args })
    try {
      setResult(await carryOut(call, targetOf(callable, key), narrowing, controller.signal))
    } catch (fault) {
      setResult(undefined)
      if (isAbort(fault)) setCancelled(true)
      else setError(fault)
    }
    setActiveController(undefined)
  }

  const call: Call = { callable, args, byGet, keeps }
  const repeated = () => {
    const { path, parameters, body } = requestOf(call, targetOf(callable, key), narrowing)
    return { address: location.origin + addressOf(path), parameters, body }
  }
  const shownOwner = callable.applyTo === 'entity' ? `${callable.owner}(…)` : callable.owner
  return (
    <div class="form">
      <form class="stack" onSubmit={event => void run(event)}>
        <h2>
          <code>
            {shownOwner}.<b>{callable.name}</b>
          </code>
        </h2>
        {callable.applyTo === 'entity' && (
          <label>
            {text('key')}
            <input required value={key} onInput={({ currentTarget }) => setKey(currentTarget.value)} />
          </label>
        )}
        <ArgumentList args={args} onChange={setArgs} />
        <div class="actions">
          <button type="submit" class="main" disabled={activeController !== undefined}>
            {text('call')}
          </button>
          {callable.allowedOnHTTPGET && (
            <select
              aria-label={text('method')}
              value={byGet ? 'GET' : 'POST'}
              onChange={({ currentTarget }) => setByGet(currentTarget.value === 'GET')}
            >
              <option>POST</option>
              <option>GET</option>
            </select>
          )}
          <label class="check">
            <input type="checkbox" checked={keeps} onChange={({ currentTarget }) => setKeeps(currentTarget.checked)} />
            {text('keep')}
          </label>
          <CopyRequest request={repeated} />
        </div>
      </form>
      <Waiting
        label={text('calling')}
        isLoading={activeController !== undefined}
        isCancelled={isCancelled}
        cancel={() => activeController?.abort()}
      />
      {isCancelled && <p class="hint">{text('mayRun')}</p>}
      <div aria-live="polite">
        {error !== undefined && <Fault error={error} />}
        {result && <OutcomeView result={result} />}
      </div>
      <History id={idOf(callable)} owner={callable.owner} onChoose={setArgs} />
    </div>
  )
}

async function carryOut(
  call: Call,
  target: string,
  narrowing: Parameters | undefined,
  signal: AbortSignal,
): Promise<Returned> {
  const { path, parameters, body } = requestOf(call, target, narrowing)
  const start = performance.now()
  const response = await respond(addressOf(path, parameters), {
    method: body ? 'POST' : 'GET',
    body,
    signal,
  })
  const blob = await response.blob()
  const milliseconds = Math.round(performance.now() - start)
  const mediaType = response.headers.get('Content-Type') ?? ''
  const isJson = /^application\/json\b/.test(mediaType)
  const answer = isJson || !response.ok ? readAnswer(response, await blob.text()) : undefined
  const outcome = isJson ? outcomeOf(answer) : blob
  return { outcome, mediaType, status: response.status, bytes: blob.size, milliseconds }
}
