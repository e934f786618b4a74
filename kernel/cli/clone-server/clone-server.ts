import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Config } from '../../../config/load-config.ts'
import { quantity } from '../../../engine/base/counted.ts'
import { describeSystemError } from '../../../engine/base/system-error.ts'
import { ProgressDisplay } from '../progress.ts'
import { givenAddress } from '../server-address.ts'
import { copyModel } from './class-plan.ts'
import { type CloneState, StateFile } from './clone-state.ts'
import { compareValues } from './compare-values.ts'
import { copyClass, noChanges, pageSizes } from './copy-class.ts'
import { firstEntities } from './entity-pages.ts'
import { describe, describeRefused, differences, follow, type Found, persistentPass } from './follow.ts'
import { finishedModel, finishStore } from './finish-store.ts'
import { type Credentials, logIn } from './log-in.ts'
import { planClone } from './plan-clone.ts'
import { CatalogChanged, digestOf, readCatalog } from './read-catalog.ts'
import { Source, SourceError } from './source.ts'
import { Target } from './target.ts'

export interface CloneServerArguments {
  /** Address of the server, with or without `/rest`. */
  readonly server: string
  readonly key?: string | undefined
  readonly credentials?: Credentials | undefined
  /** Further headers, each `Name: value`. */
  readonly headers?: readonly string[] | undefined
  readonly resume: boolean
  readonly requests: number
  readonly timeoutSeconds: number
  /** Maximum number of comparisons with the source after the copy; one of them has to find no difference. */
  readonly passes: number
  readonly keepCalculated: boolean
  readonly dangling: 'keep' | 'null'
  /** Seconds between comparisons that continue until the signal; the copy is finished after it. */
  readonly follow?: number | undefined
  readonly pauseMs?: number | undefined
}

/** Entities from which keys and foreign keys are recognised. */
const SAMPLE_ENTITIES = 200

/**
 * `tesser clone`: copies a server into a new model file and a new store, through its REST interface.
 * @param print called with each sentence for the operator
 * @param signal ends the clone after the request in progress; it can be resumed. A clone that follows the server is finished instead
 * @returns true if the store has every entity of the server
 * @throws {Error} saying how to continue
 */
export async function cloneServer(
  config: Config,
  settings: CloneServerArguments,
  print: (line: string) => void,
  signal?: AbortSignal,
): Promise<boolean> {
  const url = `${givenAddress(settings.server, '')}/rest`
  if (config.demo) throw new Error('name the model file to write: --model model.json')
  const file = new StateFile(config.data)
  let state = settings.resume ? file.resume(url) : undefined
  if (!state) {
    file.refuseExisting()
    if (existsSync(config.model)) throw new Error(`${config.model} already exists; a clone creates a new model file`)
  }
  const { credentials, requests, timeoutSeconds, pauseMs } = settings
  const halt = new Halt(signal)
  const source = new Source({
    url,
    headers: headersOf(settings),
    login: credentials && (each => logIn(each, credentials)),
    requests,
    timeoutMs: timeoutSeconds * 1000,
    pauseMs,
    signal: halt.signal,
  })
  try {
    let isComplete = true
    if (!state?.finished) {
      state = await makePlan(source, state, { name: basename(config.model, '.json'), ...settings }, print)
      file.write(state)
      const refusedCount = await copy(config, state, source, settings, print, halt)
      isComplete = refusedCount === 0
      state = {
        ...state,
        finished: await finishedModel(config, state.plan, { dangling: settings.dangling, onNote: print }),
      }
      file.write(state)
    } else if (settings.follow !== undefined)
      print(
        'all entities had been copied when the clone was interrupted: it is finished and no longer follows the server',
      )
    const { finished } = state
    await finishStore(config, finished!)
    writeModel(config.model, finished!)
    file.remove()
    print(`${config.model} and ${config.data} are complete: tesser start --model ${config.model} --data ${config.data}`)
    return isComplete
  } catch (error) {
    const reason = halt.signal.aborted ? 'stopped' : error instanceof Error ? describeSystemError(error) : String(error)
    if (error instanceof CatalogChanged) throw error
    throw new Error(state ? `${reason}; --resume continues` : reason, { cause: error })
  }
}

/** Ends the requests at a signal, until the copy is complete. */
class Halt {
  private readonly controller = new AbortController()
  private readonly onStop = (): void => this.controller.abort()

  constructor(readonly stop: AbortSignal = new AbortController().signal) {
    if (stop.aborted) this.onStop()
    stop.addEventListener('abort', this.onStop, { once: true })
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  /** Lets requests continue after a signal from now on. */
  release(): void {
    this.stop.removeEventListener('abort', this.onStop)
  }
}

function headersOf({ key, headers = [] }: CloneServerArguments): Record<string, string> {
  const entries = headers.map(text => {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(text) ?? []
    if (name === undefined) throw new Error(`--header: give a name, ":" and a value, such as "X-Api-Key: secret"`)
    return [name, value!] as const
  })
  return { ...Object.fromEntries(entries), ...(key !== undefined && { authorization: `Bearer ${key}` }) }
}

async function makePlan(
  source: Source,
  before: CloneState | undefined,
  { name, keepCalculated }: Pick<CloneServerArguments, 'keepCalculated'> & { name: string },
  print: (line: string) => void,
): Promise<CloneState> {
  const catalog = await readCatalog(source)
  const digest = digestOf(catalog)
  const server = source.options.url
  if (before) {
    if (before.catalog !== digest) throw new CatalogChanged(server)
    return before
  }
  const plan = await planClone(catalog, {
    name,
    keepCalculated,
    onNote: print,
    sample: async (dataClass, attributes) => ({
      entities: await firstEntities(source, dataClass, attributes, SAMPLE_ENTITIES),
    }),
  })
  if (plan.classes.length === 0) throw new SourceError(`no dataclass of ${server} can be copied`)
  return { server, catalog: digest, plan }
}

/** @returns number of entities that the store refuses @throws {SourceError} the source changes faster than it can be copied */
async function copy(
  config: Config,
  { plan, catalog }: CloneState,
  source: Source,
  { passes, follow: seconds }: CloneServerArguments,
  print: (line: string) => void,
  halt: Halt,
): Promise<number> {
  const target = await Target.open(config, copyModel(plan), { allowLoss: false })
  const progress = new ProgressDisplay(process.stderr)
  try {
    const sizes = new Map(plan.classes.map(each => [each, pageSizes()]))
    const pass = async (into: Found = new Map()): Promise<Found> => {
      if (seconds !== undefined && digestOf(await readCatalog(source)) !== catalog)
        throw new CatalogChanged(source.options.url)
      for (const each of plan.classes) {
        halt.signal.throwIfAborted()
        const onProgress = (copiedCount: number, total: number): void => progress.show(each.name, copiedCount, total)
        const changes = into.get(each) ?? noChanges()
        into.set(each, changes)
        await copyClass(each, { source, target, onProgress, sizes: sizes.get(each)! }, changes)
      }
      progress.stop()
      return into
    }
    let outcomes: Found = new Map()
    const following = seconds !== undefined && { everyMs: seconds * 1000, pass, print, stop: halt.stop }
    if (following) await persistentPass(following, outcomes)
    else await pass(outcomes)
    halt.signal.throwIfAborted()
    print(`copied ${describe(outcomes)}`)
    if (following) {
      halt.release()
      print(`following ${source.options.url}, compared every ${seconds} s, until Ctrl+C or SIGTERM`)
      await follow(following)
    }
    for (let count = 1; ; count++) {
      outcomes = await pass()
      if (differences(outcomes) === 0) break
      print(`changed meanwhile: ${describe(outcomes)}`)
      if (count >= passes)
        throw new SourceError(
          `the server has changed during each of ${quantity(count, 'comparison')}; --passes allows more`,
        )
    }
    for (const [each, changes] of outcomes) {
      const { count, refusals } = changes
      if (refusals.size > 0) print(describeRefused(each, changes))
      else print(`${each.name}: ${quantity(count, 'entity', 'entities')}, all keys and stamps match the server`)
    }
    let comparedCount = 0
    for (const each of plan.classes) comparedCount += await compareValues(each, source, target)
    print(`the values of ${quantity(comparedCount, 'entity', 'entities')} were compared, and are equal`)
    return [...outcomes.values()].reduce((sum, { refusals: classRefusals }) => sum + classRefusals.size, 0)
  } finally {
    progress.stop()
    await target.close()
  }
}

function writeModel(path: string, model: object): void {
  const unfinishedPath = `${path}.part`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(unfinishedPath, `${JSON.stringify(model, null, 2)}\n`)
  renameSync(unfinishedPath, path)
}
