import type { Test } from 'tap'
import type { Engine } from '../../../engine/index.ts'
import type { DataStoreOf } from '../../../engine/author/declare/author-types.ts'
import type { AuthorClass } from '../../../engine/author/declare/describe-classes.ts'
import { CodeSession, type CodeSessionOptions } from '../../../engine/author/data-api/code-session.ts'
import { openReadStore } from '../../../engine/open-read-store.ts'
import { WriterLink } from '../../../engine/write/client/writer-link.ts'
import { engineOptions, LIMITS } from './engine-options.ts'
import { openTestEngine } from './test-engine.ts'
import { company } from '../fixtures/company.ts'
import { temporaryFolder } from '../base/temporary-folder.ts'
import { type Fixture, insertRows } from '../servers/test-server.ts'

export interface World {
  codeSession: CodeSession
  engine: Engine
  /** Runs `work` as the code of a function. */
  run<T>(work: (ds: DataStoreOf) => T): T
}

export interface WorldOptions extends Partial<CodeSessionOptions> {
  fixture?: Fixture
  memoryBytes?: number
  dateOnlyFormat?: 'iso' | 'dmy'
  classes?: readonly AuthorClass[]
}

/** A separate store with a `CodeSession` over it, in the thread of the test. Closed when the test ends. */
export async function openWorld(t: Test, options: WorldOptions = {}): Promise<World> {
  const { fixture = company, memoryBytes = 0, dateOnlyFormat = 'iso', ...rest } = options
  const path = temporaryFolder(t)
  const store = engineOptions({ path, model: fixture.model, wire: { dateOnlyFormat }, memoryBytes })
  const engine = await openTestEngine(t, store)
  for (const [dataClass, rows] of Object.entries(fixture.rows)) await insertRows(engine.saves, dataClass, rows)
  const reader = openReadStore(store)
  const writer = new WriterLink(end => void engine.parts.writer.connect(end))
  t.teardown(() => {
    writer.close()
    return reader.close()
  })
  const codeSession = new CodeSession({ store: reader, limits: LIMITS, writer, ...rest })
  return {
    codeSession,
    engine,
    run: work => codeSession.scope.run({}, () => work(codeSession.dataStore as unknown as DataStoreOf)),
  }
}
