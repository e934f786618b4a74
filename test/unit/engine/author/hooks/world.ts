import { SAVE_LIMITS } from '../../../../../engine/write/contract/write-limits.ts'
import type { Test } from 'tap'
import { addCalculated } from '../../../../../engine/catalog/add-calculated.ts'
import { calculatedDeclarations, HookedClasses } from '../../../../../engine/author/hooks/hooked-classes.ts'
import { Hooks } from '../../../../../engine/author/hooks/hooks.ts'
import { attachCalculated } from '../../../../../engine/author/hooks/live-values.ts'
import { saveElements } from '../../../../../engine/author/hooks/save-elements.ts'
import { type AuthorClass, describeClass } from '../../../../../engine/author/declare/describe-classes.ts'
import type { SaveRequest, SaveResult } from '../../../../../engine/write/contract/requests.ts'
import { WriterLink } from '../../../../../engine/write/client/writer-link.ts'
import { company } from '../../../../support/fixtures/company.ts'
import { openWorld } from '../../../../support/engine/code-world.ts'

export type HookedWorld = Awaited<ReturnType<typeof openHookedWorld>>

// biome-ignore lint/suspicious/noExplicitAny: a model that is changed
type Loose = any

/** The company fixture with plugin code, in the thread of the test. */
export async function openHookedWorld(
  t: Test,
  classes: readonly AuthorClass[],
  change: (model: Loose) => void = () => {},
) {
  const base = structuredClone(company.model)
  change(base)
  const descriptors = classes.map(describeClass)
  const faults: unknown[] = []
  const hooks = new Hooks(new HookedClasses(descriptors), error => faults.push(error))
  const model = addCalculated(base, calculatedDeclarations(descriptors)) as typeof company.model
  const world = await openWorld(t, { fixture: { ...company, model }, classes, hooks })
  attachCalculated(world.codeSession, descriptors, hooks)
  const behind = new WriterLink(end => void world.engine.parts.writer.connect(end))
  t.teardown(() => behind.close())
  const { codeSession, run } = world
  return {
    ...world,
    hooks,
    faults,
    /** Saves as a client does. */
    save(body: unknown, request: Partial<SaveRequest> = {}): SaveResult {
      const bytes = Buffer.from(JSON.stringify(body))
      const whole: SaveRequest = {
        kind: 'save',
        dataClass: 'Employee',
        body: bytes,
        mode: 'update',
        atomic: false,
        ...request,
      }
      return run(() => {
        const saved = saveElements(whole, SAVE_LIMITS, codeSession, hooks, result => result)
        return 'complete' in saved ? saved.complete(codeSession.writes.save(saved.write)) : saved
      })
    },
    /** Saves as another client does while the thread of the test is busy; no plugin code runs. */
    other(element: object): void {
      const body = Buffer.from(JSON.stringify(element))
      behind.write({ kind: 'save', dataClass: 'Employee', body, mode: 'update', atomic: false })
    },
    /** Stored values of an employee. */
    stored(key: number): Record<string, unknown> | undefined {
      return run(() => {
        const { dataClass } = codeSession.binding('Employee')
        const table = codeSession.snapshots.current.table(dataClass)
        const rowId = table.findKey(key)
        const row = rowId === undefined ? undefined : table.row(rowId)!
        return row && Object.fromEntries(row.layout.slots.map(each => [each.name, row.value(each)]))
      })
    },
  }
}
