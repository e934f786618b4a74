/** Dumps and restores of the stores of `dump-world.ts`. */
import { mkdirSync } from 'node:fs'
import type { Test } from 'tap'
import { undump } from '../../engine/storage/dump/undump.ts'
import { writeDump } from '../../engine/storage/dump/write-dump.ts'
import { randomOf } from '../support/base/random.ts'
import { openTestStore } from '../support/engine/test-store.ts'
import { MAP, model, writeSome } from './dump-world.ts'

const ISO = { dateOnlyFormat: 'iso' } as const
type DumpOptions = Parameters<typeof writeDump>[0]
type UndumpOptions = Parameters<typeof undump>[0]
export const dump = (path: string, folder: string, more: Partial<DumpOptions> = {}) =>
  writeDump({ path, folder, ...MAP, version: 'test', ...more })
export const restore = (folder: string, path: string, more: Partial<UndumpOptions> = {}) =>
  undump({ path, folder, ...MAP, wire: ISO, ...more })

/** A store with random entities, closed. */
export async function makeStore(t: Test, path: string, seed: number, count = 400): Promise<void> {
  mkdirSync(path)
  const store = openTestStore(t, { model, path })
  writeSome(store, randomOf(seed), count)
  store.writer.run([{ kind: 'calculated', dataClass: 'Thing', rows: [], fingerprints: { score: 'code 1' } }])
  await store.close()
}
