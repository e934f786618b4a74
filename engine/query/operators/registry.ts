import type { DataClass } from '../../catalog/dataclass.ts'
import { all } from './all.ts'
import { columnFilter } from './column-filter.ts'
import { complement } from './complement.ts'
import { difference } from './difference.ts'
import { indexScan } from './index-scan.ts'
import { intersect } from './intersect.ts'
import { jsonFilter } from './json-filter.ts'
import { none } from './none.ts'
import { nullFilter } from './null-filter.ts'
import type { Input, Operator, OperatorKind } from './operator.ts'
import { remoteJoin } from './remote-join.ts'
import { reverseSemiJoin } from './reverse-semi-join.ts'
import { semiJoin } from './semi-join.ts'
import { union } from './union.ts'
import { vectorFilter } from './vector-filter.ts'

const KINDS: { readonly [Kind in Operator['kind']]: OperatorKind<Extract<Operator, { kind: Kind }>> } = {
  All: all,
  None: none,
  IndexScan: indexScan,
  ColumnFilter: columnFilter,
  NullFilter: nullFilter,
  VectorFilter: vectorFilter,
  JsonFilter: jsonFilter,
  SemiJoin: semiJoin,
  ReverseSemiJoin: reverseSemiJoin,
  RemoteJoin: remoteJoin,
  Intersect: intersect,
  Union: union,
  Difference: difference,
  Complement: complement,
}

export const kindOf = ({ kind }: Operator): OperatorKind<Operator> => KINDS[kind]

export const inputsOf = (operator: Operator, dataClass: DataClass): readonly Input[] =>
  kindOf(operator).inputs?.(operator, dataClass) ?? []
