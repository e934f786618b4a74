/** Clones of the server of {@link startFourD}, for tests. */
import type { Test } from 'tap'
import { loadConfig } from '../../../config/load-config.ts'
import { bytesOf, type Engine, openEngine } from '../../../engine/index.ts'
import { cloneServer, type CloneServerArguments } from '../../../kernel/cli/clone-server/clone-server.ts'
import { engineOptions } from '../../../kernel/main.ts'
import type { FourDServer } from '../services/four-d-server.ts'

const GIVEN: CloneServerArguments = {
  server: '',
  resume: false,
  requests: 2,
  timeoutSeconds: 20,
  passes: 5,
  keepCalculated: false,
  dangling: 'keep',
  pauseMs: 1,
}

export const configOf = (cwd: string) =>
  loadConfig({ cwd, env: {}, flags: { model: 'model.json', data: 'store', 'storage-map-size-bytes': '256 MiB' } })

/** Clones, and returns the printed lines. */
export async function runClone(cwd: string, given: Partial<CloneServerArguments>, signal?: AbortSignal) {
  const lines: string[] = []
  const isComplete = await cloneServer(configOf(cwd), { ...GIVEN, ...given }, line => lines.push(line), signal)
  return { isComplete, lines, text: lines.join('\n') }
}

/** Begins a clone that follows the server. */
export function startFollowing(cwd: string, given: Partial<CloneServerArguments>) {
  const lines: string[] = []
  const stop = new AbortController()
  let onLine = (): void => {}
  let seen = 0
  const print = (line: string): void => {
    lines.push(line)
    onLine()
  }
  const end = cloneServer(configOf(cwd), { ...GIVEN, follow: 0.005, ...given }, print, stop.signal)
  return {
    lines,
    end,
    /** Waits for a line after those that were waited for. @throws {Error} the clone ends before */
    async line(pattern: RegExp): Promise<string> {
      const found = new Promise<string>(resolve => {
        onLine = () => {
          while (seen < lines.length) {
            const line = lines[seen++]!
            if (!pattern.test(line)) continue
            onLine = () => {}
            return resolve(line)
          }
        }
        onLine()
      })
      const tooEarly = end.then(() => {
        throw new Error(`the clone has ended without ${pattern}:\n${lines.join('\n')}`)
      })
      return Promise.race([found, tooEarly])
    },
    stop(): Promise<boolean> {
      stop.abort()
      return end
    },
  }
}

export const withEngine = async <T>(cwd: string, work: (engine: Engine) => Promise<T>): Promise<T> => {
  const engine = await openEngine({ ...engineOptions(configOf(cwd)), memoryBytes: 0 })
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

// biome-ignore lint/suspicious/noExplicitAny: entities of every shape
export const allOf = async (engine: Engine, dataClass: string): Promise<any[]> => {
  const output = { form: 'array' } as const
  const answer = await engine.queries.read({
    dataClass,
    source: { kind: 'all' },
    skip: 0,
    top: Number.POSITIVE_INFINITY,
    output,
  })
  return JSON.parse(Buffer.from(await bytesOf(answer)).toString())
}

/** Demands that the store has the entities of the server, with every value. */
export async function same(t: Test, cwd: string, server: FourDServer): Promise<void> {
  await withEngine(cwd, async engine => {
    for (const { name, key, entities, attributes } of server.classes) {
      const shown = attributes.filter(({ kind, hidden, type }) => kind === 'storage' && !hidden && type !== 'geometry')
      const wanted = [...entities].map(([id, { values }]) => [
        id,
        ...shown.map(attribute => {
          const value = values[attribute.name] ?? null
          return Buffer.isBuffer(value) ? 'link' : attribute.simpleDate ? day(value) : value
        }),
        ...(key === 'number' ? [Number(id)] : []),
      ])
      const names = [...shown.map(attribute => attribute.name), ...(key === 'number' ? [key] : [])]
      const found = (await allOf(engine, name)).map(row => [
        String(row.__KEY),
        ...names.map(each => (row[each]?.__deferred ? 'link' : row[each])),
      ])
      t.strictSame(texts(found), texts(wanted), name)
    }
  })
}

const texts = (rows: unknown[][]): string[] => rows.map(row => JSON.stringify(row)).sort()

const day = (value: unknown): unknown => {
  const parts = String(value).split('-')
  return parts.length < 3 || value === '0-0-0' ? null : parts.map(part => part.padStart(2, '0')).join('-')
}
