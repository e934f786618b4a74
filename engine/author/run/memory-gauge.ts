import { Session } from 'node:inspector'

/** Name of the global function with which a thread records its memory use in shared memory. */
export const MEASURE = 'tesser.measureMemory'

const MESSAGE = JSON.stringify({
  id: 1,
  method: 'Runtime.evaluate',
  params: { expression: `globalThis[Symbol.for('${MEASURE}')]()`, silent: true },
})

interface Attached {
  params: { sessionId: string; workerInfo: { workerId: string } }
}
interface Detached {
  params: { sessionId: string }
}

/**
 * Makes threads record their memory use while their code does not return; only the inspector can interrupt it. V8's own limit ends the
 * thread for small objects, but the whole process for an array that grows beyond it. One session serves all threads, because a second one
 * is not notified of new threads. Source: the inspector protocol, domains `NodeWorker` and `Runtime`.
 */
class MemoryGauge {
  private readonly session = new Session()
  private readonly sessionIds = new Map<number, string>()

  constructor() {
    this.session.connect()
    this.session.on('NodeWorker.attachedToWorker', ({ params }: Attached) =>
      this.sessionIds.set(Number(params.workerInfo.workerId), params.sessionId),
    )
    this.session.on('NodeWorker.detachedFromWorker', ({ params }: Detached) => {
      for (const [threadId, id] of this.sessionIds) if (id === params.sessionId) this.sessionIds.delete(threadId)
    })
    this.session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  }

  measure(threadId: number): void {
    const sessionId = this.sessionIds.get(threadId)
    if (sessionId !== undefined) this.session.post('NodeWorker.sendMessageToWorker', { sessionId, message: MESSAGE })
  }
}

let gauge: MemoryGauge | undefined
/** One gauge for the process: a second inspector session is not notified of threads. */
export const memoryGauge = (): MemoryGauge => {
  gauge ??= new MemoryGauge()
  return gauge
}
