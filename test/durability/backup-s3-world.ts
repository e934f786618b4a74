/** A store with backups in a bucket. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type BackupPolicy, type MadeBackup, makeBackup } from '../../engine/storage/backup/make-backup.ts'
import { type Moment, type Restored, restoreBackup } from '../../engine/storage/backup/restore-backup.ts'
import { S3Storage } from '../../engine/storage/backup/s3/s3-storage.ts'
import { S3Server } from '../support/services/s3/s3-server.ts'
import { contentOf, copyStore, recover } from '../support/engine/logged-store.ts'

export const KEEP_ALL = { keepBytes: 1e12, keepMs: 1e12 }
export const PART_BYTES = 2 ** 17
export const MAP = { mapSizeBytes: 2 ** 30 }
export const TIMING = { firstDelayMs: 1, idleMs: 60_000, renewalMs: 60_000 }
/** Characters that signatures, addresses and XML treat in different ways. */
export const PREFIX = `Büro/a b+c&d=(e)!*'~%20,<"@:$`

export class World {
  readonly path: string
  readonly other: string

  private constructor(
    readonly server: S3Server,
    readonly folder: string,
  ) {
    this.path = join(folder, 'store')
    this.other = join(folder, 'other')
  }

  static async make(t: Test): Promise<World> {
    return new World(await S3Server.start(t), t.testdir())
  }

  /** @param machine name of the machine, which has a folder for temporary files of its own */
  options(machine = 'machine', prefix = PREFIX): ConstructorParameters<typeof S3Storage>[0] {
    const { endpoint, env, address } = this.server
    const temp = join(this.folder, machine)
    return { address: address(prefix), endpoint, env, temp, timing: TIMING, partBytes: PART_BYTES }
  }

  storage(machine?: string): S3Storage {
    return new S3Storage(this.options(machine))
  }

  backUp(policy: BackupPolicy = {}, machine?: string): Promise<MadeBackup> {
    return makeBackup({ path: this.path, ...MAP, storage: this.storage(machine), ...policy })
  }

  restore(options: { backup?: string; at?: Moment; allowLoss?: boolean } = {}): Promise<Restored> {
    rmSync(this.other, { recursive: true, force: true })
    return restoreBackup({ path: this.other, ...MAP, storage: this.storage(), ...options })
  }

  /** Content of the store, which is open. */
  async content(): Promise<Map<string, string>> {
    const copy = join(this.folder, 'copy')
    copyStore(this.path, copy)
    await recover(copy)
    return (await contentOf(copy)).content
  }

  async restored(): Promise<Map<string, string>> {
    return (await contentOf(this.other)).content
  }

  /** Files that a backup has left for no use. */
  left(machine = 'machine'): string[] {
    const { server, folder } = this
    const files = readdirSync(join(folder, machine)).filter(name => !/^(held|upload\.lock)$/.test(name))
    return [
      ...files,
      ...server.uploads.keys(),
      ...server.keys(`${PREFIX}/locks/`),
      ...server.keys(`${PREFIX}/uploads/`),
    ]
  }
}
