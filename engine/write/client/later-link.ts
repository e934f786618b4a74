import { AsyncResource } from 'node:async_hooks'
import { ProtocolError } from '../../base/errors.ts'
import { Numbered } from '../../base/numbered.ts'
import {
  type CutState,
  cutReason,
  type LaterAnswers,
  type LaterRequest,
  type LinkEnd,
  type LinkedRequest,
  newLink,
  OPEN,
  STATE,
  type ToLinkedWriter,
} from '../contract/link-messages.ts'
import { isWriteResult } from '../contract/messages.ts'
import { sentSave } from '../contract/sent-save.ts'
import type { WriteResult, WriteResultOf } from '../contract/requests.ts'

/** Called when a request is durable or has failed as a whole. */
type Done = (outcome: WriteResult | ProtocolError) => void

interface Waiting {
  readonly done: Done
  /** Async context of the waiting code. */
  readonly scope: AsyncResource
}

/**
 * Asynchronous writing from a function thread, which runs other calls meanwhile, so that the requests of many calls share a commit.
 * Messages are declared in `engine/write/contract/link-messages.ts`.
 */
export class LaterLink {
  private end: LinkEnd | undefined
  private readonly waitingWrites = new Numbered<Waiting>()
  private lastId = 0
  private unsent: LaterRequest[] = []

  /**
   * @param connect passes the other end to `WriterClient.connect`, perhaps in another thread; transfers its port
   * @param together runs work that calls several `done`
   */
  constructor(
    private readonly connect: (end: LinkEnd) => void,
    private readonly together: (work: () => void) => void = work => work(),
  ) {}

  /** Queues a request, which {@link send} sends. */
  write<Request extends LinkedRequest>(
    request: Request,
    done: (outcome: WriteResultOf<Request> | ProtocolError) => void,
  ): void {
    this.end ??= this.open()
    const id = ++this.lastId
    this.waitingWrites.set(id, { done: done as Done, scope: new AsyncResource('TesserWrite') })
    this.unsent.push({ id, request: request.kind === 'save' ? sentSave(request) : request })
  }

  /** Sends all queued requests as one message: each message costs both threads as much as a small write. */
  send(): void {
    if (this.unsent.length === 0) return
    const requests = this.unsent
    this.unsent = []
    this.end!.port.postMessage({ kind: 'later', requests } satisfies ToLinkedWriter)
  }

  close(): void {
    this.end?.port.close()
    this.end = undefined
    this.unsent = []
  }

  private open(): LinkEnd {
    const { own, other } = newLink()
    const { port, signal } = own
    port.on('message', ({ outcomes }: LaterAnswers) => {
      this.together(() => {
        for (const { id, outcome } of outcomes)
          this.settle(id, isWriteResult(outcome) ? outcome : new ProtocolError(outcome))
      })
    })
    this.connect(other)
    const cut = Atomics.waitAsync(signal, STATE, OPEN)
    void Promise.resolve(cut.value).then(() => this.lose(own))
    return own
  }

  /** Handles a writer that is gone or refuses the link. Answers that it has already sent are processed first. */
  private lose(end: LinkEnd): void {
    setImmediate(() => {
      if (this.end !== end) return
      const state = Atomics.load(end.signal, STATE) as CutState
      this.close()
      for (const id of this.waitingWrites.ids()) this.settle(id, cutReason(state))
    })
  }

  private settle(id: number, outcome: WriteResult | ProtocolError): void {
    const { done, scope } = this.waitingWrites.get(id)!
    this.waitingWrites.delete(id)
    scope.runInAsyncScope(done, undefined, outcome)
    scope.emitDestroy()
  }
}
