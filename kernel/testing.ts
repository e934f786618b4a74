/**
 * `tesser/testing`: a server with a store of its own, for the tests of plugins and of clients.
 *
 * ```ts
 * const server = await createTestServer({
 *   model: new URL('./model.json', import.meta.url),
 *   data: { Person: [{ ID: 1, firstName: 'Ada' }] },
 *   plugins: [new URL('./index.ts', import.meta.url)],
 * })
 * const { status, json } = await server.get('/rest/Person(1)/greet')
 * await server.close()
 * ```
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { resolve as resolveModule } from 'import-meta-resolve'
import { loadConfig } from '../config/load-config.ts'
import type { Engine } from '../engine/index.ts'
import { createServer, type Server } from './main.ts'

export interface TestServerOptions {
  /** Content of a model file, or where one is. */
  readonly model: object | string | URL
  /** Entities by dataclass, saved in this order: those that others refer to come first. */
  readonly data?: Readonly<Record<string, readonly object[]>>
  /** By URL, npm name or path; paths are relative to the working directory. */
  readonly plugins?: readonly TestPlugin[]
  /** Everything else as `tesser.config.json` has it. */
  readonly config?: Readonly<Record<string, object>>
  /** The clock of what has a lifetime: milliseconds since 1970. */
  readonly now?: () => number
  /** Where the store is; it stays there. Otherwise a folder that is removed when the server is closed. */
  readonly folder?: string
}

export type TestPlugin = string | URL | { readonly plugin: string | URL; readonly options?: object }

export interface TestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
  readonly json: any
  readonly bytes: Uint8Array
}

export interface TestServer extends Server {
  /** @param path with `/rest`; what a URL cannot have is percent-encoded */
  get(path: string, headers?: Record<string, string>): Promise<TestAnswer>
  /** @param body sent as JSON; texts and bytes as they are */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>
}

/**
 * Starts a server on a free port of 127.0.0.1. It logs errors only.
 * @throws {Error} what `tesser start` would refuse, and entities that cannot be saved
 */
export async function createTestServer(options: TestServerOptions): Promise<TestServer> {
  const { model, data = {}, plugins = [], config = {}, now, folder = temporaryFolder() } = options
  const removeFolder = (): void => {
    if (!options.folder) rmSync(folder, { recursive: true, force: true })
  }
  let server: Server | undefined
  try {
    const file = join(folder, 'tesser.config.json')
    const content = {
      model: modelFile(model, folder),
      data: join(folder, 'store'),
      plugins: plugins.map(reference),
      ...config,
      server: { port: 0, graceMs: 1_000, ...config.server },
      log: { level: 'error', ...config.log },
      storage: { mapSizeBytes: '256 MiB', memoryBytes: '64 MiB', ...config.storage },
    }
    writeFileSync(file, JSON.stringify(content))
    server = await createServer(loadConfig({ file, env: {}, flags: {} }), undefined, { now })
    for (const [dataClass, entities] of Object.entries(data)) await insertRows(server.engine, dataClass, entities)
    return withClient(server, removeFolder)
  } catch (error) {
    await server?.close()
    removeFolder()
    throw error
  }
}

/** Saves entities as `tesser load` does. @throws {Error} when one of them is refused */
export async function insertRows(engine: Engine, dataClass: string, entities: readonly object[]): Promise<void> {
  const body = new TextEncoder().encode(JSON.stringify(entities))
  const saved = await engine.write({ kind: 'save', dataClass, body, mode: 'update', atomic: false, trusted: true })
  const index = saved.entities.findIndex(({ failure }) => failure)
  if (index < 0) return
  const { error } = saved.entities[index]!.failure!
  const reasons = error.entries.map(({ message }) => message).join('; ')
  throw new Error(`an entity of ${dataClass} was refused: ${JSON.stringify(entities[index])}: ${reasons}`)
}

const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'tesser-test-'))

function modelFile(model: object | string | URL, folder: string): string {
  if (model instanceof URL) return fileURLToPath(model)
  if (typeof model === 'string') return resolve(model)
  const file = join(folder, 'model.json')
  writeFileSync(file, JSON.stringify(model))
  return file
}

function reference(plugin: TestPlugin): object {
  return typeof plugin === 'string' || plugin instanceof URL
    ? { plugin: specifier(plugin) }
    : { ...plugin, plugin: specifier(plugin.plugin) }
}

function specifier(plugin: string | URL): string {
  const isBuiltIn = String(plugin).startsWith('tesser/plugins/')
  return isBuiltIn ? String(plugin) : resolveModule(String(plugin), pathToFileURL(`${process.cwd()}/`).href)
}

function withClient(server: Server, removeFolder: () => void): TestServer {
  const send: TestServer['send'] = async (method, path, body, headers = {}) => {
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array
    const answer = await fetch(`${server.url}${path}`, {
      method,
      headers,
      body: isRaw ? body : JSON.stringify(body),
      redirect: 'manual',
    })
    const bytes = new Uint8Array(await answer.arrayBuffer())
    const text = Buffer.from(bytes).toString()
    return { status: answer.status, headers: answer.headers, text, json: parsed(text), bytes }
  }
  return {
    ...server,
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
    async close() {
      await server.close()
      removeFolder()
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not every answer is JSON.
    return undefined
  }
}
