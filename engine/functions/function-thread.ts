/**
 * Entry of the threads in which code of authors runs: classes are loaded once, calls are done one after the other, each on
 * a state of the data of its own.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { combineClasses } from '../language/combine-classes.ts'
import { type AuthorClass, authorClasses, describeClass, subjectOf } from '../language/describe-classes.ts'
import { LanguageErrors } from '../language/language-errors.ts'
import { suggestion } from '../suggestion.ts'
import { noteMemory } from './measure-memory.ts'
import { TaskRunner } from './run-task.ts'
import {
  ALL_DONE,
  type BatchTask,
  type ClassModule,
  CURRENT,
  type FromFunctionThread,
  type FunctionOutcome,
  type FunctionThreadOptions,
  MEMORY,
  NOT_MEASURED,
  STARTED_AT,
  type ToFunctionThread,
} from './tasks.ts'

const { modules, dataClasses, progress, memoryBytes } = workerData as FunctionThreadOptions
const port = parentPort!
const post = (message: FromFunctionThread, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer)

const load = async (): Promise<AuthorClass[]> => {
  let classes: AuthorClass[] = []
  for (const [i, module] of modules.entries()) {
    post({ importing: i })
    classes = combineClasses(classes, await importClasses(module))
  }
  return classes
}

async function importClasses({ url, settings }: ClassModule): Promise<AuthorClass[]> {
  const exports = (await import(url)) as Record<string, unknown>
  if (typeof exports.configure === 'function') await exports.configure(settings)
  const classes = authorClasses(exports)
  if (classes.length === 0) {
    throw new Error('it exports no class; export class Employee extends DataClass("Employee") { … } would do')
  }
  for (const each of classes) {
    const { dataClass } = subjectOf(each)
    if (dataClass === undefined || dataClasses?.includes(dataClass) !== false) continue
    throw LanguageErrors.WRONG_BASE(each.name, dataClass, suggestion(dataClass, dataClasses))
  }
  return classes
}

try {
  const classes = await load()
  let runner: TaskRunner | undefined
  port.on('message', (message: ToFunctionThread) => {
    if ('close' in message) process.exit()
    else if ('open' in message) {
      runner = new TaskRunner({
        open: message.open,
        classes,
        connectWriter: end => port.postMessage({ connect: end }, [end.port]),
        onFault: note => post({ note }),
      })
      noteMemory(progress, memoryBytes + message.open.store.cacheBytes)
      post({ opened: true })
    } else runBatch(runner!, message.batch)
  })
  post({ classes: classes.map(describeClass) })
} catch (error) {
  post({ refused: (error as Error)?.message ?? String(error) })
  process.exit()
}

function runBatch(runner: TaskRunner, batch: readonly BatchTask[]): void {
  let done = 0
  while (done < batch.length) {
    // Before it counts as begun, so that nobody takes the time of the task before it for its own.
    Atomics.store(progress, STARTED_AT, Date.now() | 0)
    // Fails when the kernel thread has asked to stop.
    if (Atomics.compareExchange(progress, CURRENT, done, done + 1) !== done) break
    Atomics.store(progress, MEMORY, NOT_MEASURED)
    const { task, deadlineMs } = batch[done]!
    send(done, runner.run(task, deadlineMs))
    done++
  }
  Atomics.store(progress, CURRENT, ALL_DONE)
  post({ done })
}

function send(index: number, outcome: FunctionOutcome): void {
  post({ index, outcome }, buffersOf(outcome))
}

/** Bytes of an answer are handed over, not copied: they belong to nobody else. Those of members are shared. */
function buffersOf(outcome: FunctionOutcome): ArrayBuffer[] {
  if ('body' in outcome && typeof outcome.body !== 'string') return [outcome.body.buffer as ArrayBuffer]
  return []
}
