import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { Test } from 'tap'
import { type Config, loadConfig } from '../../../config/load-config.ts'
import { parseExact } from '../../../engine/base/exact-json.ts'
import { bytesOf, openEngine } from '../../../engine/index.ts'
import { load, type LoadArguments } from '../../../kernel/cli/load.ts'
import { engineOptions } from '../../../kernel/main.ts'

/** All entities, in the order of their keys. */
export async function entities(config: Config, dataClass: string): Promise<Record<string, unknown>[]> {
  const engine = await openEngine(engineOptions(config))
  try {
    const body = await engine.queries.read({
      dataClass,
      source: { kind: 'all' },
      orderBy: engine.catalog.dataClassesByName.get(dataClass)!.key.name,
      skip: 0,
      top: Number.POSITIVE_INFINITY,
      output: { form: 'array' },
    })
    return parseExact(Buffer.from((await bytesOf(body)) as Uint8Array).toString()) as Record<string, unknown>[]
  } finally {
    await engine.close()
  }
}

/** A row of an error file: objects have the line and the reasons among their members. */
// biome-ignore lint/suspicious/noExplicitAny: a row of any dataclass
function rejectedIn(text: string): any {
  const { __LINE, __ERROR, __ROW, ...row } = JSON.parse(text)
  return __LINE === undefined ? row : { line: __LINE, errors: [__ERROR], row: __ROW ?? row }
}

/** A folder with a model and files, and the command `tesser load` in it. */
export const loadWorld = (t: Test, model: object, files: Record<string, string | Buffer | Record<string, string>>) => {
  const cwd = t.testdir({ 'model.json': JSON.stringify(model), ...files })
  const config = loadConfig({
    cwd,
    env: {},
    flags: { model: 'model.json', data: 'data', 'storage-map-size-bytes': '64 MiB' },
  })
  return {
    cwd,
    config,
    async load(file: string, more: Partial<LoadArguments> = {}, signal?: AbortSignal, answer?: string) {
      const output = new PassThrough({ encoding: 'utf8' })
      const errors = join(cwd, 'errors.ndjson')
      const notes: string[] = []
      const isComplete = await load(
        config,
        {
          file: file.startsWith('http') ? file : join(cwd, file),
          into: more.create ? undefined : 'Person',
          update: false,
          errors,
          ...more,
        },
        output as never,
        signal,
        { print: line => notes.push(line), ask: async () => answer },
      )
      output.end()
      const rejected = existsSync(errors) ? readFileSync(errors, 'utf8').trim().split('\n').map(rejectedIn) : []
      return { isComplete, text: (await output.toArray()).join(''), notes: notes.join('\n'), rejected }
    },
    people: () => entities(config, 'Person'),
    entities: (dataClass: string) => entities(config, dataClass),
  }
}
