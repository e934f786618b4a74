import { setTimeout as delay } from 'node:timers/promises'
import type { MigrationStep } from '../../engine/index.ts'
import { MIGRATION_STEPS } from '../migration-log.ts'
import { ask } from './ask-server.ts'
import { ProgressDisplay } from './progress.ts'

export interface MigrateArguments {
  /** Address of the server, see `serverAddress`. */
  url: string
  key?: string | undefined
  allowLoss: boolean
  /** Removes the copy. */
  cancel: boolean
}

/** Answer of `$migrate`. */
interface ModelChange {
  readonly state: 'none' | 'running' | 'ready' | 'failed'
  readonly changes?: readonly string[]
  readonly step?: MigrationStep | null
  readonly error?: string
}

const POLL_MS = 300

/**
 * `tesser migrate`: has a running server prepare the change to the current model in its file, and waits until that is done.
 * @returns false if that failed
 * @throws {Error} the server cannot be used
 */
export async function migrate(
  { url, key, allowLoss, cancel }: MigrateArguments,
  print: (line: string) => void,
): Promise<boolean> {
  const address = new URL(`${url}/rest/$migrate`)
  const send = async (method: string, to = address): Promise<ModelChange> =>
    (await (await ask(to, { method, key })).json()) as ModelChange
  if (cancel) {
    await send('DELETE')
    print('the prepared copy is removed; the next start with a changed model changes the store itself')
    return true
  }
  const begin = new URL(address)
  if (allowLoss) begin.searchParams.set('$allowLoss', 'true')
  const progress = new ProgressDisplay(process.stderr)
  let change = await send('POST', begin)
  try {
    for (; change.state === 'running'; change = await send('GET')) {
      const { step } = change
      if (step) progress.show(`${MIGRATION_STEPS[step.what]} ${step.dataClass}`, step.done, step.total)
      await delay(POLL_MS)
    }
  } finally {
    progress.stop()
  }
  change.changes?.forEach(print)
  print(describe(change, allowLoss))
  return change.state !== 'failed'
}

function describe({ state, error }: ModelChange, allowLoss: boolean): string {
  if (state === 'failed') return `the change could not be prepared: ${error}`
  if (state === 'none') return 'the server already uses the model of its file: there is nothing to prepare'
  return `the change is ready: restart the server${allowLoss ? ' with --allow-loss' : ''}; it takes over what was written meanwhile`
}
