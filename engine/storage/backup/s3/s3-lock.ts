import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { BackupError } from '../manifest.ts'
import { READ, REMOVE, type S3Client, WRITE } from './s3-client.ts'
import { listObjects, type S3Object } from './s3-objects.ts'

const LOCKS = 'locks/'
const MINUTE_MS = 60_000
/** Age after which a lock that was not renewed is ignored. Long, since no timer runs during a check of the data file. */
const EXPIRED_MS = 60 * MINUTE_MS
/** Time since its last renewal after which a holder does not trust its lock. */
const DOUBTFUL_MS = 50 * MINUTE_MS
/** Age of a lock whose holder has begun its work. Two younger locks belong to processes that have started at the same time. */
const SETTLED_MS = 10_000
const TRIES = 4

interface Holder {
  readonly host: string
  readonly process: number
  readonly since: string
}

/**
 * The right to change the backups of a place. Each process stores an object with a unique name, and then lists them: when another one
 * exists, it withdraws its own. Of two processes at least one sees the other, provided that a listing shows the objects stored before it.
 * `If-None-Match` would need one object only, but some servers accept the header and ignore it.
 */
export class S3Lock {
  private isLost = false
  private renewedAt = now()
  private readonly timer: NodeJS.Timeout
  /** The renewal that is in progress. */
  private renewal: Promise<void> | undefined

  private constructor(
    private readonly client: S3Client,
    readonly name: string,
    private readonly holder: Holder,
  ) {
    this.timer = setInterval(() => {
      this.renewal ??= this.renew()
        .catch(() => {})
        .finally(() => {
          this.renewal = undefined
        })
    }, client.timing.renewalMs).unref()
  }

  /**
   * @param dead names of locks whose processes have ended
   * @param onName called with the name of the lock before it is stored
   * @throws {BackupError} another process holds it
   */
  static async acquire(client: S3Client, dead: ReadonlySet<string>, onName: (name: string) => void): Promise<S3Lock> {
    const holder = { host: hostname(), process: process.pid, since: new Date().toISOString() }
    for (let i = 1; ; i++) {
      const name = `${LOCKS}${randomUUID()}`
      onName(name)
      const lock = new S3Lock(client, name, holder)
      try {
        await lock.store()
        const other = await lock.findOther(dead)
        if (!other) return lock
        if (other.ageMs > SETTLED_MS || i === TRIES) throw await describe(client, other)
      } catch (error) {
        await lock.release()
        throw error
      }
      await lock.release()
      // Randomized, so that two processes that have collided do not collide again.
      await delay(client.timing.firstDelayMs * (4 + Math.random() * 12))
    }
  }

  /** @throws {BackupError} another process may hold the lock now */
  verify(): void {
    if (this.isLost || elapsedSince(this.renewedAt) > DOUBTFUL_MS)
      throw new BackupError(
        `this process has lost its lock of the backups in ${this.client.bucket.place}, which it could not renew in time; make the backup again`,
      )
  }

  /** Releases the lock. Never rejects: a lock that could not be removed expires. */
  async release(): Promise<void> {
    clearInterval(this.timer)
    await this.renewal
    await this.client.send({ ...REMOVE, name: this.name }).catch(() => {})
  }

  private async store(): Promise<void> {
    const time = now()
    await this.client.send({ ...WRITE, name: this.name, body: JSON.stringify(this.holder) })
    this.renewedAt = time
  }

  private async renew(): Promise<void> {
    const { status } = await this.client.send({ ...READ, method: 'HEAD', name: this.name })
    // Another process has taken over the lock because it considered it expired.
    if (status === 404 || elapsedSince(this.renewedAt) > DOUBTFUL_MS) this.isLost = true
    if (this.isLost) clearInterval(this.timer)
    else await this.store()
  }

  private async findOther(dead: ReadonlySet<string>): Promise<S3Object | undefined> {
    let otherLock: S3Object | undefined
    let isListed = false
    for await (const each of listObjects(this.client, LOCKS)) {
      if (each.name === this.name) isListed = true
      else if (each.ageMs > EXPIRED_MS || dead.has(each.name)) await this.client.send({ ...REMOVE, name: each.name })
      else if (!otherLock || each.ageMs > otherLock.ageMs) otherLock = each
    }
    if (!isListed)
      throw new BackupError(
        `${this.client.bucket.place} cannot be used: the server does not list at once what has been stored, so that two backups could destroy each other`,
      )
    return otherLock
  }
}

async function describe(client: S3Client, { name }: S3Object): Promise<BackupError> {
  const { text } = await client.send({ ...READ, name })
  let who = ''
  try {
    const { host, process, since } = JSON.parse(text) as Holder
    if (/^[\w.-]{1,255}$/.test(host) && /^[\d:.TZ-]{1,30}$/.test(since))
      who = `, ${host} (process ${Number(process)}, since ${since}),`
  } catch {
    // The lock is gone.
  }
  return new BackupError(
    `another process${who} changes the backups in ${client.bucket.place}; try again when that is done, or an hour after it was killed`,
  )
}

/** Two clocks: the first stops while the machine sleeps, the second may be set back. */
const now = (): readonly [number, number] => [performance.now(), Date.now()]
const elapsedSince = ([steady, wall]: readonly [number, number]): number =>
  Math.max(performance.now() - steady, Date.now() - wall)
