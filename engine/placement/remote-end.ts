import { ProtocolError } from '../base/errors.ts'
import { errorOfThrown } from '../base/thrown-error.ts'
import type { FromRemote, RemoteQuestion, ToRemote } from '../postgres/remote-link.ts'
import { ANSWERS, type LinkEnd } from '../write/contract/link-messages.ts'
import { type RemoteScope, RemoteWork } from './remote-work.ts'

/** Answers the questions of a function thread, in which plugin code waits. Messages are declared in `engine/postgres/remote-link.ts`. */
export function serveLink({ port, signal }: LinkEnd, scope: RemoteScope): void {
  const gone = new AbortController()
  port.on('close', () => gone.abort())
  port.on('message', (message: ToRemote) => {
    if ('note' in message) return scope.databases.tables.onNote(...message.note)
    void answer(message, scope, gone.signal).then(send)
  })
  function send(sent: FromRemote): void {
    port.postMessage(sent)
    Atomics.add(signal, ANSWERS, 1)
    Atomics.notify(signal, ANSWERS)
  }
}

async function answer(message: RemoteQuestion, scope: RemoteScope, signal: AbortSignal): Promise<FromRemote> {
  const limits = { deadlineAt: message.deadlineAt, user: message.user, signal }
  try {
    if ('call' in message) return { rows: await scope.databases.run(message.call, limits) }
    const work = new RemoteWork(scope, { ...limits, limits: scope.options.limits, isCode: true })
    return { result: await work.write(message.task) }
  } catch (error) {
    const known = error instanceof ProtocolError ? error.toData() : errorOfThrown(error)
    if (known) return { error: known }
    return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
