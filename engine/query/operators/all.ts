import type { OperatorKind } from './operator.ts'

export interface All {
  readonly kind: 'All'
}

export const all: OperatorKind<All> = {
  describe: () => ({ text: 'all entities' }),
  weigh: () => ({ share: 1, microseconds: 0 }),
  estimate: (_, candidates) => ({ rows: candidates, microseconds: 0 }),
  evaluate: (_, candidates) => candidates,
}
