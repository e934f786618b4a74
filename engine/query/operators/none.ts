import { RowSet } from '../../row-set/row-set.ts'
import type { OperatorKind } from './operator.ts'

export interface None {
  readonly kind: 'None'
}

export const none: OperatorKind<None> = {
  describe: () => ({ text: 'no entity' }),
  weigh: () => ({ share: 0, microseconds: 0 }),
  estimate: () => ({ rows: 0, microseconds: 0 }),
  evaluate: () => RowSet.empty,
}
