import { ProtocolError } from '../../base/errors.ts'
import { errorOfThrown } from '../../base/thrown-error.ts'
import { RemoteErrors, SILENT } from '../../data/remote-errors.ts'
import { type Ended, HeldTransaction } from '../database/held-transaction.ts'
import type { FromRemote, Held, RemoteLimits, RemoteQuestion, ToRemote } from './remote-link.ts'
import { ANSWERS, type LinkEnd } from '../../write/contract/link-messages.ts'
import { type RemoteScope, RemoteWork } from './remote-work.ts'

/** Answers the questions of a function thread, in which plugin code waits. Messages are declared in `engine/postgres/run/remote-link.ts`. */
export function serveLink({ port, signal }: LinkEnd, scope: RemoteScope): void {
  const end = new RemoteEnd(scope)
  port.on('close', () => end.close())
  port.on('message', (message: ToRemote) => {
    if ('note' in message) return scope.databases.tables.onNote(...message.note)
    void end.answer(message).then(send)
  })
  function send(answer: FromRemote): void {
    port.postMessage(answer)
    Atomics.add(signal, ANSWERS, 1)
    Atomics.notify(signal, ANSWERS)
  }
}

class RemoteEnd {
  private readonly stop = new AbortController()
  private open: HeldTransaction | undefined
  /** Opens the gate of the database whose other writes wait. */
  private openGate: (() => void) | undefined

  constructor(private readonly scope: RemoteScope) {}

  async answer(message: RemoteQuestion): Promise<FromRemote> {
    try {
      return await this.answerOf(message)
    } catch (error) {
      const errorData = error instanceof ProtocolError ? error.toData() : errorOfThrown(error)
      if (errorData) return { error: errorData }
      return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    }
  }

  /** The thread has ended. */
  close(): void {
    this.stop.abort()
    this.end(false).catch(() => {})
  }

  private async answerOf(message: RemoteQuestion): Promise<FromRemote> {
    if ('keep' in message) {
      const outcome = await this.end(message.keep)
      if (!outcome && message.keep) throw away(message.connection)
      return { outcome: outcome ?? 'undone' }
    }
    const { scope } = this
    const limits = { deadlineAt: message.deadlineAt, user: message.user, signal: this.stop.signal }
    const transaction = message.transaction && (await this.transaction(message.transaction, limits))
    if ('call' in message) return { rows: await scope.databases.run(message.call, limits, transaction) }
    const work = new RemoteWork(scope, { ...limits, transaction, limits: scope.options.limits, isCode: true })
    return { result: await work.write(message.task) }
  }

  private async transaction({ holding, begins }: Held, limits: RemoteLimits): Promise<HeldTransaction> {
    const { signal } = this.stop
    if (begins) {
      const database = this.scope.databases.database(holding.connection)
      if (!holding.isAlone) await database.gate.pass()
      else this.openGate ??= await database.gate.close()
      this.open = await HeldTransaction.begin(database, holding, { ...limits, signal })
      if (signal.aborted) await this.end(false)
    }
    if (!this.open) throw away(holding.connection)
    return this.open
  }

  /** @returns undefined if no transaction is open */
  private async end(keep: boolean): Promise<Ended | undefined> {
    const { open } = this
    this.open = undefined
    let isRepeated = false
    try {
      const outcome = await open?.end(keep)
      isRepeated = outcome === 'collided' && open!.holding.repeats
      return outcome
    } finally {
      if (!isRepeated) {
        this.openGate?.()
        this.openGate = undefined
      }
    }
  }
}

const away = (connection: string): ProtocolError => RemoteErrors.AWAY(connection, SILENT).retryAfter(1)
