import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { describeSystemError } from '../../../base/system-error.ts'
import { type FileLock, hasFileLocks, tryFileLock } from '../../../base/file-lock.ts'
import type { BackupStorage, Stored } from '../backup-storage.ts'
import { digestFile } from '../digest-file.ts'
import { BackupError } from '../manifest.ts'
import { type Environment, readS3Address } from './s3-bucket.ts'
import { READ, REMOVE, S3Client, type S3Timing } from './s3-client.ts'
import { S3Lock } from './s3-lock.ts'
import { listObjects, openObject } from './s3-objects.ts'
import { S3Uploads, UPLOADS } from './s3-upload.ts'

const LOCK_FILE = 'upload.lock'
/** File with the names of locks that processes with this folder have stored. */
const HELD_FILE = 'held'

interface S3Options {
  /** `s3://bucket/prefix`. */
  readonly address: string
  /** Address of the server. */
  readonly endpoint?: string | undefined
  /** Folder for files that are sent, which is removed afterwards. Needed for changes. */
  readonly temp?: string | undefined
  /** Environment that contains the key. */
  readonly env: Environment
  readonly timing?: S3Timing
  readonly partBytes?: number
}

/** Backups in a bucket of a server that speaks the protocol of Amazon S3. */
export class S3Storage implements BackupStorage {
  readonly place: string
  private readonly client: S3Client
  private readonly uploads: S3Uploads
  private readonly temp: string | undefined
  private heldLock: S3Lock | undefined

  /** @throws {BackupError} the address cannot be used */
  constructor({ address, endpoint, temp, env, timing, partBytes }: S3Options) {
    const bucket = readS3Address(address, endpoint, env)
    this.place = bucket.place
    this.temp = temp
    this.client = new S3Client(bucket, env, timing)
    this.uploads = new S3Uploads(this.client, partBytes)
  }

  async lock(): Promise<{ release(): Promise<void> }> {
    const { temp } = this
    if (temp === undefined) throw new Error('a storage for changes needs a folder for temporary files')
    const local = this.lockTemp(temp)
    const heldFile = join(temp, HELD_FILE)
    // The processes that held these locks have ended, because the system has released the lock of the folder.
    const dead = local && existsSync(heldFile) ? readFileSync(heldFile, 'utf8').split('\n') : []
    const release = async (): Promise<void> => {
      await this.heldLock?.release()
      this.heldLock = undefined
      clear(temp)
      local?.release()
    }
    try {
      clear(temp)
      this.heldLock = await S3Lock.acquire(this.client, new Set(dead), name =>
        appendFileSync(heldFile, `${name}\n`, { mode: 0o600 }),
      )
      writeFileSync(heldFile, `${this.heldLock.name}\n`, { mode: 0o600 })
      await this.uploads.clear(await this.names(UPLOADS))
    } catch (error) {
      await release()
      throw error
    }
    return { release }
  }

  async names(prefix: string): Promise<string[]> {
    const names: string[] = []
    for await (const { name } of listObjects(this.client, prefix)) names.push(name)
    return names.sort()
  }

  async read(name: string): Promise<Buffer | undefined> {
    const content = await openObject(this.client, name)
    if (!content) return undefined
    const pieces: Buffer[] = []
    for await (const piece of content) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  async has(name: string): Promise<boolean> {
    return (await this.client.send({ ...READ, method: 'HEAD', name })).status !== 404
  }

  async put(name: string, write: (path: string) => Promise<void> | void): Promise<Stored> {
    const path = join(this.temp!, randomUUID())
    try {
      await write(path)
      const digest = await digestFile(path)
      await this.uploads.put(name, path, digest, () => this.heldLock!.verify())
      return digest
    } finally {
      await rm(path, { recursive: true, force: true })
    }
  }

  async fetch(name: string, path: string): Promise<Stored> {
    const content = await openObject(this.client, name)
    if (!content) throw new BackupError(`${this.place}/${name} is missing`)
    const file = await open(path, 'wx', 0o600)
    const hash = createHash('sha256')
    let bytes = 0
    try {
      for await (const piece of content) {
        hash.update(piece)
        bytes += piece.length
        await file.appendFile(piece)
      }
    } finally {
      await file.close()
    }
    return { bytes, sha256: hash.digest('hex') }
  }

  async remove(name: string): Promise<void> {
    this.heldLock!.verify()
    await this.client.send({ ...REMOVE, name })
  }

  private lockTemp(temp: string): FileLock | undefined {
    try {
      mkdirSync(temp, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw new BackupError(
        `the folder for files that are sent, ${temp}, cannot be made: ${describeSystemError(error)}`,
      )
    }
    if (!hasFileLocks()) return undefined
    const lock = tryFileLock(join(temp, LOCK_FILE))
    if (lock) return lock
    throw new BackupError(`another process of this machine makes a backup of this store; try again when that is done`)
  }
}

/** Removes the files that an earlier process has left behind. */
function clear(temp: string): void {
  for (const name of readdirSync(temp))
    if (name !== LOCK_FILE && name !== HELD_FILE) rmSync(join(temp, name), { recursive: true, force: true })
}
