import { Session } from 'node:inspector'

/** Name of the global function of a thread that notes in shared memory how much memory it uses. */
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
 * Lets threads note how much memory they use while their code does not return. The inspector alone can interrupt it. What
 * V8 itself does at its limit ends the thread for small objects, but the whole process for an array that grows beyond it.
 * Source: the inspector protocol, domains `NodeWorker` and `Runtime`.
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
/** One for the process: a session that follows another one learns of no threads. */
export const memoryGauge = (): MemoryGauge => {
  gauge ??= new MemoryGauge()
  return gauge
}
