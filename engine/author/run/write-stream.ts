import type { OutgoingMessage } from '../data-api/outgoing-message.ts'
import { FunctionErrors } from '../declare/function-errors.ts'
import type { Streaming } from './result-stream.ts'
import type { CallTask, StreamHead } from './tasks.ts'

/** Header that keeps proxies from buffering the answer, which would delay its values. */
const UNBUFFERED = { 'X-Accel-Buffering': 'no' }

const LINES: StreamHead = {
  status: 200,
  headers: { 'Content-Type': 'application/x-ndjson; charset=UTF-8', ...UNBUFFERED },
  form: 'lines',
}
const EVENTS: StreamHead = {
  status: 200,
  headers: { 'Content-Type': 'text/event-stream; charset=UTF-8', ...UNBUFFERED },
  form: 'events',
}

/** The values of a generator as lines of JSON, or as events. @param json returns the JSON of a value, on one line */
export function writeGenerator(
  values: Generator<unknown> | AsyncGenerator<unknown>,
  task: CallTask,
  json: (value: unknown, task: CallTask) => string,
): Streaming {
  const { asEvents = false, read } = task
  // Each value has one line.
  const { pretty: _, coding: __, ...output } = read?.output ?? {}
  const ofLines: CallTask = read ? { ...task, read: { ...read, output: output as typeof read.output } } : task
  return {
    stream: {
      head: asEvents ? EVENTS : LINES,
      values,
      isAsync: Symbol.asyncIterator in values,
      write: asEvents ? value => `data: ${json(value, ofLines)}\n\n` : value => `${json(value, ofLines)}\n`,
    },
  }
}

/** A message whose body is a stream; undefined for any other. */
export function writeMessageStream(message: OutgoingMessage, { fullName }: CallTask): Streaming | undefined {
  const source = message.bodyStream
  if (!source) return undefined
  const { status, headers } = message.toAnswer()
  return {
    stream: {
      head: { status, headers, form: 'raw' },
      values: source.values(),
      isAsync: source.isAsync,
      write(value) {
        if (typeof value === 'string' || value instanceof Uint8Array) return value
        throw FunctionErrors.BAD_RESULT(fullName, 'the stream of its body gave something else than texts and bytes')
      },
      destroy: source.destroy,
    },
  }
}
