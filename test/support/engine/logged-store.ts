import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import type { Progress } from '../../../engine/base/progress.ts'
import { checkModel } from '../../../engine/catalog/check-model.ts'
import type { EncodedUpload } from '../../../engine/data/stored-uploads.ts'
import type { LogOptions, StoreLockOptions } from '../../../engine/data/store-options.ts'
import { BinaryValue } from '../../../engine/catalog/value.ts'
import { encodeBinary } from '../../../engine/files/encode-binary.ts'
import { checkStore } from '../../../engine/storage/inspect/check-store.ts'
import { openEnvironment } from '../../../engine/storage/environment.ts'
import { type OpenedForWriting, openForWriting } from '../../../engine/storage/migration/open-for-writing.ts'
import { postingLists } from '../../../engine/storage/postings.ts'
import { recoverStore } from '../../../engine/storage/recover-store.ts'
import { loadSchema } from '../../../engine/storage/stored-schema.ts'
import type { WriteRequest } from '../../../engine/write/contract/requests.ts'
import { Writer } from '../../../engine/write/steps/writer.ts'
import type { Random } from '../base/random.ts'
import { ISO, model, NOW, saveRequest } from './test-store.ts'

const MAP = { mapSizeBytes: 2 ** 30 }
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const USED = ['Company', 'Person', 'City', 'Pet'] as const
/** Everything except for the table of indexes, whose lists may be split in other places. */
const TABLES = [
  'meta',
  'state',
  'rows',
  'binaries',
  'fileReferences',
  'uploads',
  'changes',
  'entitySets',
  'records',
] as const
/** Entries that are not part of any commit: the owner, files that are still to be removed, the name of the image of the memory. */
const APART = /^(owner|remove |holder|memoryImage|log)/

/** A store with a log, written to in this thread. */
export interface LoggedStore {
  readonly path: string
  /** Runs random requests of every kind, some of which fail. */
  write(random: Random, count: number): void
  /** Makes a checkpoint. */
  checkpoint(): Promise<void>
  close(): Promise<void>
}

interface OpenOptions {
  /** Model in place of that of the random requests, which must not run then. */
  readonly model?: object
  readonly allowLoss?: boolean
  readonly onProgress?: Progress
  readonly lock?: Partial<StoreLockOptions>
  /** Time of all writes. */
  readonly now?: number
}

/** @param log options of the log, or `off` to use the store without it */
export async function openLogged(
  path: string,
  log: LogOptions | 'off' = {},
  { model: given = model, allowLoss = false, onProgress = () => {}, lock, now = NOW }: OpenOptions = {},
): Promise<LoggedStore> {
  const opened: OpenedForWriting = await openForWriting(
    {
      path,
      ...MAP,
      log: log === 'off' ? undefined : log,
      token: `test ${Math.random()}`,
      model: checkModel(given),
      wire: ISO,
      allowLoss,
      lock,
    },
    { onNote() {}, onProgress, onLost() {} },
  )
  let uuids = 0
  const writer = new Writer({
    store: opened.store,
    now: () => now,
    // A slice that ended with its time would give entities other stamps on a busy machine.
    sliceMs: Number.POSITIVE_INFINITY,
    randomUuid: () => (++uuids).toString(16).toUpperCase().padStart(32, '0'),
    onInternalError(error) {
      throw error
    },
  })
  return {
    path,
    write(random, count) {
      for (let i = 0; i < count; i++) {
        const requests = Array.from({ length: random.integer(1, 4) }, () => randomRequest(random))
        writer.run(requests)
      }
    },
    async checkpoint() {
      // Every image is followed by one. The first that completes may have begun before.
      for (let i = 0; i < 2; i++) {
        const before = checkpointOf(path)
        opened.store.memoryImage = `${before.length} ${i}`
        while (checkpointOf(path) === before) await sleep(1)
      }
    },
    close: () => opened.close(),
  }
}

const checkpointOf = (path: string): string => readFileSync(join(path, 'checkpoint.json'), 'utf8')

/** Copies a store as a crash would leave it. @param parts names of files and folders; undefined: all */
export function copyStore(from: string, to: string, parts = ['data.mdb', 'checkpoint.json', 'log', 'files']): void {
  mkdirSync(to, { recursive: true })
  for (const part of parts) {
    rmSync(join(to, part), { recursive: true, force: true })
    if (part === 'data.mdb') copyFileSync(join(from, part), join(to, part))
    else if (existsSync(join(from, part))) cpSync(join(from, part), join(to, part), { recursive: true })
  }
}

/** @returns notes for the log of the server */
export async function recover(path: string, allowLoss = false): Promise<string[]> {
  const notes: string[] = []
  await recoverStore({ path, ...MAP, allowLoss }, note => notes.push(note))
  return notes
}

/** Content of a store that is not open: entries of all tables and the rows of each indexed value, as texts; and its problems. */
export async function contentOf(path: string): Promise<{ content: Map<string, string>; problems: string[] }> {
  const environment = openEnvironment({ path, ...MAP })
  try {
    const content = new Map<string, string>()
    for (const name of TABLES) {
      for (const { key, value } of (environment[name] as typeof environment.rows).getRange({})) {
        if (APART.test(key.toString())) continue
        const text = Buffer.isBuffer(value) ? value.toString('hex') : JSON.stringify(value)
        content.set(`${name} ${Buffer.isBuffer(key) ? key.toString('hex') : key}`, text)
      }
    }
    for (const { prefix, rowIds } of postingLists(environment.index, Buffer.alloc(0), Buffer.alloc(2, 0xff))) {
      content.set(`index ${prefix.toString('hex')}`, [...rowIds].sort((a, b) => a - b).join())
    }
    const { catalog, layouts } = loadSchema(environment)
    // The headers of the sets of this test are not those of the server.
    const problems = [...checkStore(environment, catalog, layouts)].filter(text => !text.startsWith('entity set'))
    return { content, problems }
  } finally {
    await environment.close()
  }
}

function randomRequest(random: Random): WriteRequest {
  const kind = random.integer(0, 19)
  if (kind < 11) return randomSave(random)
  if (kind < 14) {
    const rowIds = Uint32Array.from({ length: random.integer(1, 5) }, () => random.integer(0, 60))
    return { kind: 'delete', dataClass: random.pick(USED), rowIds, atomic: random.chance(0.3) }
  }
  if (kind < 16) return randomSets(random)
  if (kind < 18) return randomUpload(random)
  if (kind < 19) {
    const values = Array.from({ length: random.integer(1, 3) }, () =>
      random.pick([undefined, 1, 'two', { three: [3, null] }]),
    )
    return { kind: 'records', changes: values.map(value => ({ key: `test/${random.integer(0, 9)}`, value })) }
  }
  const fingerprints = { score: `${random.integer(0, 9)}` }
  return { kind: 'calculated', dataClass: 'Company', rows: [], fingerprints }
}

function randomSave(random: Random): WriteRequest {
  const dataClass = random.pick(USED)
  const bodies = Array.from({ length: random.integer(1, 6) }, () => randomBody(random, dataClass))
  return saveRequest(dataClass, bodies, { atomic: random.chance(0.3), trusted: true, anyStamp: true })
}

function randomBody(random: Random, dataClass: (typeof USED)[number]): object {
  const id = random.integer(1, 60)
  const key = random.chance(0.5) ? { __KEY: id } : {}
  const word = (): string =>
    random.pick(['a', 'Ä', 'bcd', 'Bcd', `n${random.integer(0, 9)}`, 'x'.repeat(random.integer(1, 1500))])
  const image = (): string | null =>
    random.pick([
      null,
      dataUrl('image/png', PNG),
      dataUrl('application/octet-stream', Buffer.alloc(random.pick([3, 70_000]), id)),
    ])
  switch (dataClass) {
    case 'Company':
      return { ...key, name: word(), code: random.pick(['AB1', 'CD2', `EF${id}`]) }
    case 'City':
      return random.chance(0.5) ? { name: word(), population: id } : { __KEY: word(), population: -id }
    case 'Pet':
      return { name: word(), owner: random.integer(1, 60) }
    case 'Person':
      return {
        ...key,
        name: word(),
        big: id * 1e6,
        height: random.pick([null, id / 7]),
        born: random.pick([null, '2001-02-03']),
        extra: random.pick([null, { tags: [word()], n: id }]),
        employer: random.pick([null, random.integer(1, 60)]),
        manager: random.pick([null, random.integer(1, 60)]),
        city: random.pick([null, 'a', 'bcd']),
        photo: image(),
        cv: image(),
      }
  }
}

const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`

const randomId = (random: Random): string => random.integer(0, 30).toString(16).toUpperCase().padStart(32, '0')

function randomSets(random: Random): WriteRequest {
  const header = { hasEnded: random.chance(0.2), expires: NOW + random.integer(0, 1_000), note: random.integer(0, 9) }
  const members = new Uint8Array(new SharedArrayBuffer(random.pick([4, 400, 9_000]))).fill(random.integer(0, 255))
  const change = random.pick([
    { id: randomId(random), header, members },
    { id: randomId(random), header },
    { id: randomId(random), header: undefined },
  ])
  return { kind: 'entitySets', changes: [change] } as unknown as WriteRequest
}

function randomUpload(random: Random): WriteRequest {
  const content = new Uint8Array(random.integer(1, 2_000)).fill(random.integer(0, 255))
  const upload: EncodedUpload = {
    expires: NOW + random.integer(0, 1_000),
    owner: { handle: 'h', isNew: random.chance(0.5), guestNetwork: random.pick([undefined, '127.0.0.0/8']) },
    value: encodeBinary(new BinaryValue('text/plain', content)),
  }
  return { kind: 'uploads', changes: [{ id: randomId(random), upload: random.chance(0.7) ? upload : undefined }] }
}
