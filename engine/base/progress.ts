/** Progress of one step of a migration. */
export interface MigrationStep {
  dataClass: string
  what: 'check' | 'rewrite' | 'index' | 'catchUp' | 'calculate'
  /** Number of rows done. */
  done: number
  total: number
}

export type Progress = (step: MigrationStep) => void
