/**
 * However values are uploaded, attached, replaced, deleted and left to expire, and however often the server is stopped or
 * killed meanwhile: every byte is as a simple model says, and no unreferenced file is left.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { fileOf } from '../../bench/own-server/file.ts'
import { inspectStore } from '../../engine/storage/inspect/inspect-store.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { isLong, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { storedFiles } from '../support/engine/stored-files.ts'
import { LiveServer } from '../support/servers/live-server.ts'
import { MODEL } from '../support/fixtures/uploads.ts'

const STEPS = isLong ? 400 : 60
const JPEG_START = Buffer.from('ffd8ffe000104a46494600', 'hex')
/** Sizes of values in rows and in files, with both sides of the border between them. */
const SIZES = [12, 1_000, 65_535, 65_536, 65_537, 262_144, 700_001]
const ATTRIBUTES = ['image', 'content'] as const

type Attribute = (typeof ATTRIBUTES)[number]
type Values = Record<Attribute, Buffer | null>

interface Upload {
  ID: string
  bytes: Buffer
  expires: number
}

/** A write with an unknown outcome. */
interface InFlight {
  document: number
  attribute: Attribute
  after: Buffer | null
  isAnswered: boolean
}

class UploadServer extends LiveServer {
  time = Date.UTC(2026, 0, 1)

  constructor(readonly folder: string) {
    super('uploads.child.js', () => [folder, String(this.time)])
  }

  async setTime(time: number): Promise<void> {
    this.time = time
    this.child!.send(time)
    await once(this.child!, 'message')
  }

  /** Files of values and uploads. */
  files(): string[] {
    return storedFiles(join(this.folder, 'store'))
  }

  /** Problems that `tesser check` finds in the store, which no process has open. */
  async problems(): Promise<string[]> {
    const found: string[] = []
    const path = join(this.folder, 'store')
    const options = {
      path,
      mapSizeBytes: 2 ** 28,
      model: MODEL,
      wire: { dateOnlyFormat: 'iso' },
      allowLoss: false,
    } as const
    for await (const { text } of inspectStore(options)) found.push(text)
    return found
  }
}

/** Expected content of the store. */
class Model {
  readonly documents = new Map<number, Values>()
  uploads: Upload[] = []
}

class Run {
  readonly model = new Model()
  readonly server: UploadServer
  /** Counter that makes each file different. */
  private files = 0

  constructor(
    private readonly random: Random,
    folder: string,
  ) {
    this.server = new UploadServer(folder)
  }

  /** @returns the first difference from the model */
  async step(): Promise<string | undefined> {
    const { random } = this
    // A start takes longer than all other steps together.
    const step = random.chance(0.07)
      ? random.pick([this.restart, this.kill, this.kill])
      : random.pick([this.upload, this.attach, this.attach, this.write, this.clear, this.remove, this.wait])
    if (this.model.documents.size < 3 || random.chance(0.1)) return this.create()
    return step.call(this)
  }

  /** Deletes all documents and stops. @returns problems, and files that should not be left */
  async end(): Promise<string[]> {
    const { server, model } = this
    for (const document of model.documents.keys()) await server.send('DELETE', `/Document(${document})`)
    await server.setTime(server.time + 1_000_000)
    await server.stop()
    return [...(await server.problems()), ...server.files()]
  }

  private async create(): Promise<string | undefined> {
    const upload = this.random.chance(0.5) ? this.random.pick([undefined, ...this.living()]) : undefined
    const { status, bytes } = await this.server.send('POST', '/Document?$method=update', {
      ...(upload && { image: { ID: upload.ID } }),
    })
    if (status !== 200) return `a new document is answered with ${status}: ${bytes}`
    this.model.documents.set(JSON.parse(bytes.toString()).ID, { image: upload?.bytes ?? null, content: null })
    return undefined
  }

  private async upload(): Promise<string | undefined> {
    const bytes = this.file()
    const seconds = this.random.integer(1, 100)
    const answer = await this.server.send('POST', `/$upload?$binary=true&$timeout=${seconds}`, bytes)
    if (answer.status !== 200) return `an upload is answered with ${answer.status}`
    const { ID } = JSON.parse(answer.bytes.toString())
    this.model.uploads.push({ ID, bytes, expires: this.server.time + seconds * 1000 })
    return undefined
  }

  /** Attaches an upload; one that has expired must change nothing. */
  private async attach(): Promise<string | undefined> {
    const { model, random, server } = this
    if (model.uploads.length === 0) return this.upload()
    const [document, attribute] = this.place()
    const { ID, bytes, expires } = random.pick(model.uploads)
    const { status } = await this.save(document, { [attribute]: { ID } })
    const expected = expires > server.time ? 200 : 422
    if (expected === 200) model.documents.get(document)![attribute] = bytes
    return status === expected ? this.compare(document) : `attaching is answered with ${status} and not ${expected}`
  }

  private async write(): Promise<string | undefined> {
    const [document, attribute] = this.place()
    const bytes = this.file()
    const { status } = await this.server.send('PUT', `/Document(${document})/${attribute}`, bytes)
    this.model.documents.get(document)![attribute] = bytes
    return status === 200 ? this.compare(document) : `writing is answered with ${status}`
  }

  private async clear(): Promise<string | undefined> {
    const [document, attribute] = this.place()
    const { status } = this.random.chance(0.5)
      ? await this.server.send('DELETE', `/Document(${document})/${attribute}?$binary=true`)
      : await this.save(document, { [attribute]: null })
    this.model.documents.get(document)![attribute] = null
    return status === 200 ? this.compare(document) : `clearing is answered with ${status}`
  }

  private async remove(): Promise<string | undefined> {
    const [document] = this.place()
    const { status } = await this.server.send('DELETE', `/Document(${document})`)
    this.model.documents.delete(document)
    return status === 200 ? undefined : `deleting is answered with ${status}`
  }

  private async wait(): Promise<string | undefined> {
    await this.server.setTime(this.server.time + this.random.integer(1, 60) * 1000)
    return undefined
  }

  private async restart(): Promise<string | undefined> {
    await this.server.stop()
    const problems = await this.server.problems()
    await this.server.start()
    return problems[0] ?? this.compareAll()
  }

  /** Kills the server in the middle of some writes, each to a different document. */
  private async kill(): Promise<string | undefined> {
    const { random, server, model } = this
    const writes: Promise<void>[] = []
    const inFlight: InFlight[] = []
    for (const document of random.some([...model.documents.keys()], 0.7)) {
      const attribute = random.pick(ATTRIBUTES)
      const after = random.chance(0.8) ? this.file() : null
      const each: InFlight = { document, attribute, after, isAnswered: false }
      inFlight.push(each)
      const path = `/Document(${document})/${attribute}`
      const sent = after ? server.send('PUT', path, after) : server.send('DELETE', `${path}?$binary=true`)
      writes.push(
        sent.then(
          ({ status }) => {
            each.isAnswered = status === 200
          },
          () => {},
        ),
      )
    }
    writes.push(
      this.upload().then(
        () => {},
        () => {},
      ),
    )
    await delay(random.integer(0, 60))
    await server.kill()
    await Promise.all(writes)
    const problems = (await server.problems()).filter(problem => !problem.includes('of an upload that did not end'))
    await server.start()
    for (const { document, attribute, after, isAnswered } of inFlight) {
      const values = model.documents.get(document)!
      const { bytes } = await server.send('GET', `/Document(${document})/${attribute}?$binary=true`)
      if (isAnswered || bytes.equals(after ?? Buffer.alloc(0))) values[attribute] = after
    }
    return problems[0] ?? this.compareAll()
  }

  private async compareAll(): Promise<string | undefined> {
    for (const document of this.model.documents.keys()) {
      const difference = await this.compare(document)
      if (difference) return difference
    }
    return undefined
  }

  /** Compares all bytes, and those of a range. */
  private async compare(document: number): Promise<string | undefined> {
    const values = this.model.documents.get(document)!
    const { bytes: entity } = await this.server.send('GET', `/Document(${document})`)
    const shown = JSON.parse(entity.toString())
    for (const attribute of ATTRIBUTES) {
      const expected = values[attribute]
      if ((expected === null) !== (shown[attribute] === null))
        return `${attribute} of ${document} is ${shown[attribute]}`
      const { status, bytes } = await this.server.send('GET', `/Document(${document})/${attribute}?$binary=true`)
      if (status !== 200 || !bytes.equals(expected ?? Buffer.alloc(0))) {
        return `${attribute} of ${document} has ${bytes.length} bytes that are not the ${expected?.length ?? 0} expected`
      }
    }
    return undefined
  }

  private async save(document: number, change: object): Promise<{ status: number }> {
    const { bytes } = await this.server.send('GET', `/Document(${document})`)
    const { __KEY, __STAMP } = JSON.parse(bytes.toString())
    return this.server.send('POST', '/Document?$method=update', { __KEY, __STAMP, ...change })
  }

  private place(): [document: number, attribute: Attribute] {
    return [this.random.pick([...this.model.documents.keys()]), this.random.pick(ATTRIBUTES)]
  }

  private living(): Upload[] {
    return this.model.uploads.filter(({ expires }) => expires > this.server.time)
  }

  private file(): Buffer {
    return fileOf(this.random.pick(SIZES), this.files++, JPEG_START)
  }
}

t.setTimeout(timeoutMs)
for (const seed of seeds(isLong ? 3 : 1)) {
  t.test(`world ${seed}: every byte is where it belongs`, async t => {
    const run = new Run(randomOf(seed), t.testdir({}))
    await run.server.start()
    for (let step = 0; step < STEPS; step++) {
      const difference = await run.step()
      if (difference === undefined) continue
      await run.server.kill()
      t.fail(`seed ${seed}, step ${step}: ${difference}`)
      return
    }
    t.same(await run.end(), [])
  })
}
