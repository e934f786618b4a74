import { errorWithoutKnownSecrets, ProtocolError } from '../engine/base/errors.ts'
import type { StreamOutcome } from '../engine/index.ts'
import { errorReply } from './errors.ts'
import type { Reply } from './reply.ts'
import type { BodyStream } from './transport/transport.ts'

type Piece = string | Uint8Array

/** Maximum pause of an event stream, so that neither a proxy nor the client considers its connection dead. */
const QUIET_MS = 15_000
const COMMENT = ':\n\n'

/** Timers, which tests replace. */
interface Timers {
  setTimeout(callback: () => void, ms: number): NodeJS.Timeout
  clearTimeout(timer: NodeJS.Timeout | undefined): void
}

/**
 * An answer whose values are sent as they are produced. Its head is sent with the first value. A later failure is reported in a last line,
 * or in an event `error`, with the usual `__ERROR`; a body in another form is cut off. Events end with an event `end`, because clients
 * reconnect otherwise.
 */
export function streamedReply({ status, headers, form, body }: StreamOutcome['stream'], timers?: Timers): Reply {
  switch (form) {
    case 'lines':
      return { status, headers, body: withLast(body, failure => failure && `${failure}\n`) }
    case 'events': {
      const events = withLast(body, failure => (failure ? event('error', failure) : event('end', 'null')))
      return { status, headers, body: withComments(events, timers) }
    }
    case 'raw':
      return { status, headers, body: { [Symbol.asyncIterator]: () => body } }
  }
}

const event = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`

/** Adds a last piece. @param last called with the JSON of the error, if the values have failed */
function withLast(
  values: StreamOutcome['stream']['body'],
  last: (failure: string | undefined) => string | undefined,
): BodyStream {
  let isOver = false
  const end = (failure?: string): IteratorResult<Piece, undefined> => {
    isOver = true
    const value = last(failure)
    return value === undefined ? { done: true, value: undefined } : { done: false, value }
  }
  return iterable({
    async next() {
      if (isOver) return { done: true, value: undefined }
      try {
        const next = await values.next()
        return next.done ? end() : next
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        const safeError = new ProtocolError(errorWithoutKnownSecrets(error.toData()))
        return end(errorReply(safeError, () => {}).body as string)
      }
    },
    return: () => values.return(),
  })
}

/** Adds a comment after each long pause of the stream. */
function withComments(pieces: BodyStream, { setTimeout, clearTimeout }: Timers = globalThis): BodyStream {
  const source = pieces[Symbol.asyncIterator]()
  let pending: ReturnType<typeof source.next> | undefined
  return iterable({
    async next() {
      pending ??= source.next()
      let timer: NodeJS.Timeout | undefined
      const quiet = new Promise<IteratorResult<Piece, undefined>>(resolve => {
        timer = setTimeout(() => resolve({ done: false, value: COMMENT }), QUIET_MS)
      })
      const arrival = pending.finally(() => {
        pending = undefined
        clearTimeout(timer)
      })
      return Promise.race([arrival, quiet])
    },
    return: () => source.return!(),
  })
}

const iterable = (iterator: Required<Pick<AsyncIterator<Piece, undefined>, 'next' | 'return'>>): BodyStream => ({
  [Symbol.asyncIterator]: () => iterator,
})
