/**
 * The order in which records, commits and checkpoints become durable, as a pure function. The server performs the effects that it returns,
 * one after another, and reports their outcomes; if one fails, its event replaces the events of the effects that follow. The simulation in
 * `test/property/log-protocol.test.ts` does the same with a disk that loses pages and fails at any step.
 */
export interface LogState {
  /** Last commit of the data file, whether or not it is on the disk. */
  readonly committed: number
  /** Last commit of the newest checkpoint. */
  readonly checkpoint: number
  /** Last commit of the checkpoint in progress; undefined if there is none. */
  readonly making: number | undefined
  /** Bytes of records and commits since the newest checkpoint was begun. */
  readonly bytes: number
  /**
   * `unclear`: the last record failed, and may be in the log. `lost`: a sync of the data file failed, after which the system may have
   * dropped pages; only the checkpoint and the log can be trusted.
   */
  readonly health: 'good' | 'unclear' | 'lost'
}

export type LogEvent =
  /** A transaction has done its work, and is still open. */
  | { readonly kind: 'work'; readonly bytes: number }
  | { readonly kind: 'appended' | 'appendFailed' | 'takenBack' | 'takeBackFailed' }
  /** The transaction has been committed or aborted by the data file, whose pages may not be on the disk. */
  | { readonly kind: 'committed' | 'commitFailed' }
  /** The time for a checkpoint has come. */
  | { readonly kind: 'due' }
  | { readonly kind: 'waitFailed' | 'synced' | 'syncFailed' | 'saved' | 'saveFailed' }

export type LogEffect =
  /** Append the record of the open transaction, durably: `appended` or `appendFailed`. */
  | 'append'
  /** Make the last record unreadable, durably: `takenBack` or `takeBackFailed`. */
  | 'takeBack'
  /** Let the transaction commit: `committed` or `commitFailed`. */
  | 'commit'
  /** Abort the transaction, and answer with the failure. */
  | 'refuse'
  /** Answer that everything was written. */
  | 'acknowledge'
  /** Wait until all commits are on the disk, or `waitFailed`. */
  | 'wait'
  /** Keep the pages of the newest commit, and remember its meta pages. */
  | 'pin'
  /** Sync the data file to the disk: `synced` or `syncFailed`. */
  | 'sync'
  /** Make the remembered meta pages the checkpoint, durably: `saved` or `saveFailed`. */
  | 'save'
  /** Release the pages of the previous checkpoint, and the records that it needed. */
  | 'release'
  /** Release the pages of a checkpoint that was not completed. */
  | 'unpin'
  /** Ask for `due` after a while. */
  | 'schedule'

/**
 * Bytes of records after which a checkpoint begins; each record counts {@link COMMIT_BYTES} more. This bounds how much a start applies, and
 * how much the data file grows, since a commit writes pages of some 70 KB: with 4 MB the data file of the benchmark grew from 822 to 1,037
 * MB, with 1 MB to 893, at the same rate of saves.
 */
export const CHECKPOINT_BYTES = 2 ** 20
const COMMIT_BYTES = 1024
/** Commits wait for the disk when a checkpoint is behind by this factor. */
const BEHIND = 8

/** State after the first checkpoint. */
export const initialState = (committed: number): LogState => ({
  committed,
  checkpoint: committed,
  making: undefined,
  bytes: 0,
  health: 'good',
})

type Step = readonly [state: LogState, effects: readonly LogEffect[]]

export function step(state: LogState, event: LogEvent): Step {
  const { committed, making, bytes, health } = state
  switch (event.kind) {
    case 'work': {
      if (health === 'lost') return [state, ['refuse']]
      const next = { ...state, bytes: bytes + event.bytes + COMMIT_BYTES }
      if (health === 'unclear') return [next, ['takeBack', 'append']]
      return [next, bytes > BEHIND * CHECKPOINT_BYTES ? ['wait', 'append'] : ['append']]
    }
    case 'appended':
      return [state, ['commit']]
    case 'appendFailed':
    case 'commitFailed':
      return [{ ...state, health: 'unclear' }, ['takeBack', 'refuse']]
    case 'takenBack':
      return [{ ...state, health: 'good' }, []]
    case 'takeBackFailed':
      return [state, ['refuse']]
    case 'committed': {
      const next = { ...state, committed: committed + 1 }
      if (making !== undefined) return [next, ['acknowledge']]
      if (bytes < CHECKPOINT_BYTES) return [next, ['acknowledge', 'schedule']]
      return begin(next, ['acknowledge'])
    }
    case 'due':
      return making === undefined && health !== 'lost' ? begin(state, []) : [state, []]
    case 'synced':
      return [state, making === undefined ? [] : ['save']]
    case 'saved':
      return [{ ...state, checkpoint: making!, making: undefined }, ['release']]
    case 'waitFailed':
      return [{ ...state, making: undefined, health: 'lost' }, ['unpin', 'refuse']]
    case 'syncFailed':
      return [{ ...state, making: undefined, health: 'lost' }, ['unpin']]
    case 'saveFailed':
      return [{ ...state, making: undefined }, ['unpin', 'schedule']]
  }
}

const begin = (state: LogState, effects: readonly LogEffect[]): Step => [
  { ...state, making: state.committed, bytes: 0 },
  [...effects, 'pin', 'sync'],
]
