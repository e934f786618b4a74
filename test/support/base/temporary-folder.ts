import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** A folder that is removed with the test. Not `t.testdir`, which a test may use for its own files, and which it empties by each call. */
export function temporaryFolder(t: Test, inside = tmpdir()): string {
  const folder = mkdtempSync(join(inside, 'tesser-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
