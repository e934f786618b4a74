import { createHash } from 'node:crypto'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Config } from '../../../config/load-config.ts'
import { counted } from '../../../engine/base/counted.ts'
import { stringifyExact } from '../../../engine/base/exact-json.ts'
import { describeSystemError } from '../../../engine/base/system-error.ts'
import { ProgressDisplay } from '../progress.ts'
import { type ClassPlan, type ClonePlan, copyModel } from './class-plan.ts'
import { type CloneState, StateFile } from './clone-state.ts'
import { compareValues } from './compare-values.ts'
import { type Changes, copyClass, pageSizes } from './copy-class.ts'
import { firstEntities } from './entity-pages.ts'
import { finishedModel, finishStore } from './finish-store.ts'
import { type Credentials, logIn } from './log-in.ts'
import { planClone } from './plan-clone.ts'
import { readCatalog } from './read-catalog.ts'
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
  /** Comparisons with the source after the copy, of which the last has to find no difference. */
  readonly passes: number
  readonly keepCalculated: boolean
  readonly dangling: 'keep' | 'null'
  readonly pauseMs?: number | undefined
}

/** Entities from which keys and foreign keys are recognised. */
const SAMPLE_ENTITIES = 200

/**
 * `tesser clone`: copies a server into a new model file and a new store, through its REST interface.
 * @param print called with each sentence for the operator
 * @param signal ends it after the request under way; it can be resumed
 * @returns true if the store has every entity of the server
 * @throws {Error} saying how to continue
 */
export async function cloneServer(
  config: Config,
  given: CloneServerArguments,
  print: (line: string) => void,
  signal?: AbortSignal,
): Promise<boolean> {
  const url = restAddress(given.server)
  if (config.demo) throw new Error('name the model file to write: --model model.json')
  const file = new StateFile(config.data)
  let state = given.resume ? file.resume(url) : undefined
  if (!state) {
    file.refuseExisting()
    if (existsSync(config.model)) throw new Error(`${config.model} exists already; a clone writes a model of its own`)
  }
  const { credentials, requests, timeoutSeconds, pauseMs } = given
  const source = new Source({
    url,
    headers: headersOf(given),
    login: credentials && (each => logIn(each, credentials)),
    requests,
    timeoutMs: timeoutSeconds * 1000,
    pauseMs,
    signal,
  })
  try {
    let isComplete = true
    if (!state?.finished) {
      state = await planned(source, state, { name: basename(config.model, '.json'), ...given }, print)
      file.write(state)
      const refused = await copy(config, state.plan, source, given, print, signal)
      isComplete = refused === 0
      state = {
        ...state,
        finished: await finishedModel(config, state.plan, { dangling: given.dangling, onNote: print }),
      }
      file.write(state)
    }
    const { finished } = state
    await finishStore(config, finished!)
    writeModel(config.model, finished!)
    file.remove()
    print(`${config.model} and ${config.data} are complete: tesser start --model ${config.model} --data ${config.data}`)
    return isComplete
  } catch (error) {
    const reason = signal?.aborted ? 'stopped' : error instanceof Error ? describeSystemError(error) : String(error)
    throw new Error(state ? `${reason}; --resume continues` : reason, { cause: error })
  }
}

/** @throws {Error} it is not an address */
export function restAddress(given: string): string {
  const address = URL.canParse(given) ? new URL(given) : undefined
  if (!address || !/^https?:$/.test(address.protocol))
    throw new Error(`${JSON.stringify(given)} is not an address such as https://data.example.com/rest`)
  if (address.username || address.password)
    throw new Error(
      'the address has a user or a password; give --user, and the password when asked or in TESSER_PASSWORD',
    )
  const path = address.pathname.replace(/\/+$/, '')
  return `${address.origin}${path.endsWith('/rest') ? path : `${path}/rest`}`
}

function headersOf({ key, headers = [] }: CloneServerArguments): Record<string, string> {
  const given = headers.map(text => {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(text) ?? []
    if (name === undefined) throw new Error(`--header: give a name, ":" and a value, such as "X-Api-Key: secret"`)
    return [name, value!] as const
  })
  return { ...Object.fromEntries(given), ...(key !== undefined && { authorization: `Bearer ${key}` }) }
}

async function planned(
  source: Source,
  before: CloneState | undefined,
  { name, keepCalculated }: Pick<CloneServerArguments, 'keepCalculated'> & { name: string },
  print: (line: string) => void,
): Promise<CloneState> {
  const catalog = await readCatalog(source)
  const text = createHash('sha256').update(stringifyExact(catalog)).digest('hex')
  const server = source.options.url
  if (before) {
    if (before.catalog !== text)
      throw new SourceError(`the catalog of ${server} has changed since its clone began; begin again in another folder`)
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
  return { server, catalog: text, plan }
}

/** @returns number of entities that the store refuses @throws {SourceError} the source changes faster than it can be copied */
async function copy(
  config: Config,
  plan: ClonePlan,
  source: Source,
  { passes }: CloneServerArguments,
  print: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<number> {
  const target = await Target.open(config, copyModel(plan), { allowLoss: false })
  const progress = new ProgressDisplay(process.stderr)
  try {
    const sizes = new Map(plan.classes.map(each => [each, pageSizes()]))
    const pass = async (): Promise<Map<ClassPlan, Changes>> => {
      const found = new Map<ClassPlan, Changes>()
      for (const each of plan.classes) {
        signal?.throwIfAborted()
        const onProgress = (done: number, total: number): void => progress.show(each.name, done, total)
        found.set(each, await copyClass(each, { source, target, onProgress, sizes: sizes.get(each)! }))
      }
      progress.stop()
      return found
    }
    let found = await pass()
    print(`copied ${describe(found)}`)
    for (let count = 1; ; count++) {
      found = await pass()
      if (total(found) === 0) break
      print(`changed meanwhile: ${describe(found)}`)
      if (count >= passes)
        throw new SourceError(
          `the server has changed during each of ${counted(count, 'comparison')}; --passes allows more`,
        )
    }
    for (const [{ name }, { count, refused }] of found) {
      const [first] = refused.values()
      if (first)
        print(
          `${name}: ${counted(refused.size, 'entity', 'entities')} cannot be saved, such as ${first.key}: ${first.reason}`,
        )
      else print(`${name}: ${counted(count, 'entity', 'entities')}, all keys and stamps are those of the server`)
    }
    let compared = 0
    for (const each of plan.classes) compared += await compareValues(each, source, target)
    print(`the values of ${counted(compared, 'entity', 'entities')} were compared, and are equal`)
    return [...found.values()].reduce((sum, { refused }) => sum + refused.size, 0)
  } finally {
    progress.stop()
    await target.close()
  }
}

const total = (found: ReadonlyMap<ClassPlan, Changes>): number =>
  [...found.values()].reduce((sum, { added, changed, removed }) => sum + added + changed + removed, 0)

function describe(found: ReadonlyMap<ClassPlan, Changes>): string {
  const sum = { added: 0, changed: 0, removed: 0 }
  for (const each of found.values())
    for (const name of ['added', 'changed', 'removed'] as const) sum[name] += each[name]
  const parts = [`${counted(sum.added, 'entity', 'entities')} added`, sum.changed > 0 && `${sum.changed} changed`]
  return [...parts, sum.removed > 0 && `${sum.removed} removed`].filter(Boolean).join(', ')
}

function writeModel(path: string, model: object): void {
  const unfinished = `${path}.part`
  writeFileSync(unfinished, `${JSON.stringify(model, null, 2)}\n`)
  renameSync(unfinished, path)
}
