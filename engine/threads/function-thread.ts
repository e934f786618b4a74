/**
 * Entry point of the threads that run plugin code: classes are loaded once, calls run one after the other, each on its own
 * snapshot; while the code of one waits, others run. Messages are declared in `engine/author/run/tasks.ts`.
 */
import { dirname } from 'node:path'
import { nextTick } from 'node:process'
import { workerData } from 'node:worker_threads'
import { combineClasses } from '../author/declare/combine-classes.ts'
import {
  type AuthorClass,
  authorClasses,
  type ClassDescriptor,
  describeClass,
  subjectOf,
  type OwnFunction,
  ownFunctions,
} from '../author/declare/describe-classes.ts'
import { EntityBase } from '../author/data-api/entity.ts'
import { LanguageErrors } from '../author/data-api/language-errors.ts'
import { ModuleDeclarations, originOfClass } from '../author/declare/module-declarations.ts'
import { messageWithPlace } from '../author/declare/place.ts'
import { unexportedProblems } from '../author/declare/unexported.ts'
import { traceOf } from '../caller/caller.ts'
import { countThread } from '../base/counts/loop-delay.ts'
import { suggestion } from '../base/suggestion.ts'
import type { CodePlace } from '../author/declare/code-place.ts'
import { observeCode, runAs } from '../author/declare/running-code.ts'
import { CodeConsole } from '../author/run/code-console.ts'
import { followCalls, ForgottenPromises } from '../author/run/follow-calls.ts'
import { noteMemory } from '../author/run/measure-memory.ts'
import { openReadStore } from '../open-read-store.ts'
import { Outbox } from '../author/run/outbox.ts'
import { lineOf, CallRunner } from '../author/run/call-runner.ts'
import { WaitingCalls } from '../author/run/waiting-calls.ts'
import { WaitingTask } from '../author/run/waiting-task.ts'
import { codeContext, RunningCall } from '../author/declare/running-call.ts'
import { loadTasks } from '../placement/task-registry.ts'
import {
  ALIVE_AT,
  ALL_DONE,
  type ClassModule,
  CURRENT,
  type FunctionOutcome,
  type FunctionThreadOptions,
  MEMORY,
  NOT_MEASURED,
  PHASE,
  READING,
  RESUMED,
  RUNNING,
  RUNNING_SINCE,
  SERVING,
  STARTED_AT,
  type ToFunctionThread,
} from '../author/run/tasks.ts'

// Stack traces name source files of plugins, not their bundles. Set before their modules are loaded.
process.setSourceMapsEnabled(true)

const { port, modules, tasks, dataClasses, progress, memoryBytes, argumentBounds, logLines } =
  workerData as FunctionThreadOptions
// Modules of plugins must not access data that the kernel relies on.
for (const name of Object.keys(workerData)) delete workerData[name]
const plugins = new Set(modules.map(({ plugin }) => plugin))
const outbox = new Outbox(port)
const console = new CodeConsole(
  log => outbox.log(log),
  logLines,
  plugins.size === 1 ? { plugin: [...plugins][0]! } : undefined,
)

let clockOffsetMs = 0

const waitingCalls = new WaitingCalls(progress, answer)

function answer(call: RunningCall, outcome: FunctionOutcome, ranMs: number): void {
  // Console output must be in the log before the client receives the answer.
  console.endCall(call)
  outbox.answer(call, outcome, ranMs)
}

// Rejections without a call become exceptions.
process.on('unhandledRejection', reason => {
  if (!failCall(reason)) throw reason
})

// Without a call the state of the thread is unknown, and it ends; the stack trace is logged.
process.on('uncaughtException', error => {
  if (failCall(error)) return
  const { place = pluginOf(error), ...line } = lineOf(error)
  outbox.log({ ...line, place })
  throw error
})

/** Ends the call whose timer or listener threw an error; other calls continue. @returns false if the error belongs to no call */
function failCall(error: unknown): boolean {
  const { call } = codeContext() ?? {}
  if (!call) return false
  if (!waitingCalls.fail(call, error)) outbox.log(lineOf(error))
  return true
}

/** The plugin whose folder a stack trace names; the trace is the only clue for code that runs outside a call. */
function pluginOf(error: Partial<Error> | null | undefined): CodePlace | undefined {
  const stack = String(error?.stack)
  const classModule = plugins.size === 1 ? modules[0] : modules.find(({ source }) => stack.includes(dirname(source)))
  return classModule && { plugin: classModule.plugin }
}

/** Classes of all modules, and problems of unusable ones. */
async function load(): Promise<{ classes: AuthorClass[]; functions: OwnFunction[]; problems: string[] }> {
  let classes: AuthorClass[] = []
  const functions: OwnFunction[] = []
  const problems: string[] = []
  const importedModules: { declarations: ModuleDeclarations; exported: readonly AuthorClass[] }[] = []
  for (const [i, module] of modules.entries()) {
    outbox.post({ importing: i })
    const declarations = new ModuleDeclarations(module.plugin)
    const exportedClasses = await importClasses(module, declarations)
    importedModules.push({ declarations, exported: exportedClasses })
    problems.push(...exportedClasses.flatMap(each => subjectProblem(each, module.plugin)))
    functions.push(...exportedClasses.flatMap(each => ownFunctions(each, module.plugin)))
    classes = combineClasses(classes, exportedClasses.filter(hasSubject))
  }
  return { classes, functions, problems: [...problems, ...unexportedProblems(importedModules)] }
}

/** True if the model has the dataclass of a class. */
function hasSubject(authorClass: AuthorClass): boolean {
  const { dataClass } = subjectOf(authorClass)
  return dataClass === undefined || dataClasses?.includes(dataClass) !== false
}

function subjectProblem(authorClass: AuthorClass, module: string): string[] {
  const { dataClass = '' } = subjectOf(authorClass)
  if (hasSubject(authorClass)) return []
  const { plugin = module, place } = originOfClass(authorClass) ?? {}
  const problem = LanguageErrors.WRONG_BASE(authorClass.name, dataClass, suggestion(dataClass, dataClasses ?? []))
  return [`plugin ${plugin}${place === undefined ? '' : `, ${place}`}: ${problem.message}`]
}

async function importClasses(
  { url, plugin, settings }: ClassModule,
  declarations: ModuleDeclarations,
): Promise<AuthorClass[]> {
  const exports = await declarations.during(async () => (await import(url)) as Record<string, unknown>)
  const { configure } = exports
  if (typeof configure === 'function' && settings) {
    await runAs({ plugin, function: 'configure' }, () => configure(settings) as unknown)
  }
  const classes = authorClasses(exports)
  if (classes.length === 0) {
    throw new Error(
      'it exports no class; export one, for example: export class Employee extends DataClass("Employee") { … }',
    )
  }
  return classes
}

try {
  const { classes, functions, problems } = await load()
  const { registry } = await loadTasks(tasks)
  const descriptors = classes.map(withFields)
  const checks = await loadChecks(descriptors)
  let runner: CallRunner | undefined
  port.on('message', (message: ToFunctionThread) => {
    if ('close' in message) process.exit()
    else if ('gone' in message) waitingCalls.gone(message.gone)
    else if ('taken' in message) waitingCalls.taken(message.taken, message.size)
    else if ('open' in message) {
      const { store } = message.open
      runner = new CallRunner({
        ...message.open,
        store: openReadStore(store, countThread(store.counts, 'function')),
        now: () => Date.now() + clockOffsetMs,
        classes,
        registry,
        argumentBounds,
        checkArguments: checks?.checkArguments,
        progress,
        waitingCalls,
        outbox,
        forgotten: new ForgottenPromises(modules.map(({ source }) => source)),
      })
      followCalls({
        begins(call) {
          outbox.beforeCode()
          waitingCalls.begins(call)
        },
        ends(call) {
          runner!.endStretch()
          waitingCalls.ends(call)
        },
        // Each call sees the data with its own rights.
        switches: () => runner!.endStretch(),
      })
      observeCode(isRunning => {
        if (isRunning) {
          outbox.sendOutcomes()
          Atomics.store(progress, RUNNING_SINCE, Date.now() | 0)
        }
        Atomics.store(progress, PHASE, isRunning ? RUNNING : SERVING)
      })
      noteMemory(progress, memoryBytes + store.cacheBytes)
      outbox.post({ opened: true })
    } else {
      clockOffsetMs = message.clockOffsetMs
      runBatch(runner!, message)
    }
  })
  outbox.post({ classes: descriptors, functions, problems: [...problems, ...(checks?.problems ?? [])] })
} catch (error) {
  outbox.post({ refused: messageWithPlace(error) })
  process.exit()
}

/** Loads the schema compiler only if a function declares parameters or a result: it is half as large as all other code of this thread. */
async function loadChecks(descriptors: readonly ClassDescriptor[]) {
  const isDeclared = descriptors.some(({ members }) =>
    members.some(member => member.kind === 'function' && (member.parameters || member.result)),
  )
  if (!isDeclared) return undefined
  const [{ signatureProblems }, { checkArguments }] = await Promise.all([
    import('../author/declare/check-signature.ts'),
    import('../author/run/check-arguments.ts'),
  ])
  return { problems: signatureProblems(descriptors, dataClasses), checkArguments }
}

/** Description of a class with its fields, which can hide attributes. */
function withFields(authorClass: AuthorClass): ClassDescriptor {
  const descriptor = describeClass(authorClass)
  if (descriptor.kind !== 'entity') return descriptor
  const fields = EntityBase.fieldsOf(authorClass as unknown as new () => EntityBase)
  return { ...descriptor, properties: [...descriptor.properties, ...fields] }
}

/** Time for which saves of a batch are gathered. */
const GATHER_MS = 1

function runBatch(
  runner: CallRunner,
  { batch, first }: Pick<Extract<ToFunctionThread, { batch: unknown }>, 'batch' | 'first'>,
): void {
  let position = 0
  let mayWait = false
  let sentAt = performance.now()
  outbox.beginBatch()
  while (position < batch.length) {
    // Set before the task counts as begun, so that it is not charged for the time of the previous one.
    Atomics.store(progress, STARTED_AT, Date.now() | 0)
    Atomics.store(progress, PHASE, READING)
    // Fails when the kernel thread has asked to stop.
    if (Atomics.compareExchange(progress, CURRENT, position, position + 1) !== position) break
    Atomics.store(progress, MEMORY, NOT_MEASURED)
    const { task, ...times } = batch[position]!
    const call = new RunningCall(first + position, times, traceOf(task))
    const begunAt = performance.now()
    outbox.sendOutcomes()
    if (begunAt - sentAt > GATHER_MS) {
      runner.sendWrites()
      sentAt = begunAt
    }
    const outcome = runner.run(task, call)
    const ranMs = performance.now() - begunAt
    if (outcome instanceof WaitingTask) {
      waitingCalls.add(outcome, ranMs)
      mayWait = true
    } else answer(call, outcome, ranMs)
    position++
  }
  Atomics.store(progress, ALIVE_AT, Date.now() | 0)
  Atomics.store(progress, RESUMED, 0)
  Atomics.store(progress, CURRENT, ALL_DONE)
  runner.sendWrites()
  // Most calls that await nothing outside have ended by then: after all microtasks.
  if (mayWait) queueMicrotask(() => nextTick(() => outbox.endBatch(position)))
  else outbox.endBatch(position)
}
