/** Plugins whose classes a test writes. */
import { join } from 'node:path'
import type { Test } from 'tap'

export const INDEX = `import { definePlugin } from 'tesser'
export default definePlugin({ name: 'acme', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })`
export const IMPORT = `import * as tesser from 'tesser/classes'
const { calculated, DataClass, DataStore, Entity, entityOf, EntitySelection, event, exposed, job, onHTTPGet, orderByOf, queryOf, schedule, selectionOf, Singleton, Type } = tesser
`

/** Writes a plugin to a separate folder, with classes that begin in line 3. @returns the path of its index */
export function writePlugin(t: Test, classes: string): string {
  const folder = t.testdir({ 'index.ts': INDEX, 'classes.ts': IMPORT + classes })
  return join(folder, 'index.ts')
}
