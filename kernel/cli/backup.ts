import { join } from 'node:path'
import type { Config } from '../../config/load-config.ts'
import { quantity } from '../../engine/base/counted.ts'
import { parseDate } from '../../engine/base/time/read-date.ts'
import {
  type Backup,
  BackupError,
  type BackupPlace,
  Backups,
  makeBackup,
  type Moment,
  openStorage,
  restoreBackup,
  type Restored,
  verifyBackup,
} from '../../engine/index.ts'
import { besidesOf } from '../backup-files.ts'
import { describeSize } from './describe-size.ts'
import { notIncluded } from './not-included.ts'
import { withProgress } from './progress.ts'

export interface BackupArguments {
  place: BackupPlace
  full: boolean
  keepDays?: number | undefined
}

const note = (text: string): void => void process.stderr.write(`${text}\n`)

/** `tesser backup`. @returns the outcome, for the operator @throws {BackupError} */
export async function backup(config: Config, { place, full, keepDays }: BackupArguments): Promise<string> {
  const result = await withProgress(onProgress =>
    makeBackup({
      path: config.data,
      mapSizeBytes: config.storage.mapSizeBytes,
      storage: openStorage(place, config.data),
      full,
      fullDays: config.backup.fullDays,
      keepDays,
      besides: besidesOf(config),
      onNote: note,
      onProgress,
    }),
  )
  const removalText = result.removed.length > 0 ? `; ${quantity(result.removed.length, 'older one')} removed` : ''
  return `backup ${result.name} in ${place.folder}: ${result.kind}, ${describeSize(result.bytes)}, stamp ${result.stamp}${removalText}${notIncluded(config)}`
}

/** `tesser backup list`. @returns a line for each backup */
export async function listBackups(place: BackupPlace): Promise<string[]> {
  const backups = await new Backups(openStorage(place)).list(note)
  if (backups.length === 0) throw new BackupError(`there are no backups in ${place.folder}`)
  return backups.map(describe)
}

function describe({ name, manifest }: Backup): string {
  const { kind, time, stamp, files, blobs, entities } = manifest
  const bytes = files.reduce((sum, file) => sum + file.bytes, blobs.bytes)
  const count = Object.values(entities).reduce((sum, each) => sum + each, 0)
  return `${name}  ${kind.padEnd(9)}  ${new Date(time).toISOString()}  stamp ${stamp}  ${quantity(count, 'entity', 'entities')}  ${describeSize(bytes)}`
}

/** `tesser backup verify`. Prints each problem. @returns true if there is none @throws {BackupError} */
export async function verify(
  config: Config,
  { place, name, temp }: { place: BackupPlace; name?: string | undefined; temp?: string | undefined },
  print: (line: string) => void,
): Promise<boolean> {
  const { mapSizeBytes } = config.storage
  const { restored: restoration, problems } = await withProgress(onProgress =>
    verifyBackup({
      storage: openStorage(place),
      backup: name,
      mapSizeBytes,
      folder: temp,
      onNote: note,
      onProgress,
    }),
  )
  problems.forEach(print)
  if (problems.length > 0) print(`${quantity(problems.length, 'problem')} in the store of backup ${restoration.backup}`)
  else print(`backup ${restoration.backup} is all right: ${describeState(restoration)}`)
  return problems.length === 0
}

const describeState = ({ time, stamp, entities }: Restored): string => {
  const count = Object.values(entities).reduce((sum, each) => sum + each, 0)
  return `${quantity(count, 'entity', 'entities')}, stamp ${stamp}, ${new Date(time).toISOString()}`
}

/** `tesser restore`. @returns the outcome, for the operator @throws {BackupError} */
export async function restore(
  { data, storage }: Config,
  { place, name, at }: { place: BackupPlace; name?: string | undefined; at?: string | undefined },
): Promise<string> {
  const restoration = await withProgress(onProgress =>
    restoreBackup({
      path: data,
      mapSizeBytes: storage.mapSizeBytes,
      storage: openStorage(place),
      backup: name,
      at: at === undefined ? undefined : readMoment(at),
      allowLoss: storage.allowLoss,
      onNote: note,
      onProgress,
    }),
  )
  return `${data} has the state of ${describeState(restoration)}; configuration, model, roles and users of backup ${restoration.backup} are in ${join(data, 'config')}`
}

function readMoment(text: string): Moment {
  if (/^\d+$/.test(text)) return { stamp: Number(text) }
  const time = parseDate(text)
  if (time === undefined)
    throw new BackupError(`--at ${text} is neither a time, such as 2026-01-31T09:30, nor a stamp, such as 1200`)
  // A time that accepts an offset has none yet: it is in the time zone of this machine, like ISO texts without a zone in
  // JavaScript.
  const isLocal = parseDate(`${text}Z`) !== undefined
  return { time: isLocal ? Date.parse(new Date(time).toISOString().slice(0, -1)) : time }
}
