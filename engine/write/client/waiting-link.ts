import { receiveMessageOnPort } from 'node:worker_threads'
import { ANSWERS, type CutState, type LinkEnd, newLink, OPEN, REQUESTS, STATE } from '../contract/link-messages.ts'

/** Asks another thread and blocks until it answers, because plugin code is synchronous. The link opens with the first message. */
export class WaitingLink<Question, Answer> {
  private end: LinkEnd | undefined

  /** @param connect passes the other end to the thread that answers; transfers its port */
  constructor(private readonly connect: (end: LinkEnd) => void) {}

  /** @param lossError the error to throw when the link is cut before the answer */
  ask(question: Question, lossError: (state: CutState) => Error): Answer {
    const { port, signal } = this.send(question)
    for (;;) {
      const answerCount = Atomics.load(signal, ANSWERS)
      const envelope = receiveMessageOnPort(port) as { message: Answer } | undefined
      if (envelope) return envelope.message
      const state = Atomics.load(signal, STATE)
      if (state !== OPEN) {
        this.close()
        throw lossError(state as CutState)
      }
      Atomics.wait(signal, ANSWERS, answerCount)
    }
  }

  /** Sends a message, without waiting for an answer. */
  send(message: Question): LinkEnd {
    this.end ??= this.open()
    const { port, signal } = this.end
    port.postMessage(message)
    Atomics.add(signal, REQUESTS, 1)
    Atomics.notify(signal, REQUESTS)
    return this.end
  }

  close(): void {
    this.end?.port.close()
    this.end = undefined
  }

  private open(): LinkEnd {
    const { own, other } = newLink()
    this.connect(other)
    return own
  }
}
