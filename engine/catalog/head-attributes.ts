import type { HeadMember, StorageAttribute } from './attribute.ts'
import { parametersOf } from './types/parameters.ts'
import type { ScalarType } from './value-type.ts'

/**
 * The members that the protocol adds to every entity, as attributes that queries can name. `__KEY` is the key itself; the
 * others are read from the heads of rows, without an index. Sources: base specification, 2.5; protocol notes, 3.6.
 */
export function headAttributes(key: StorageAttribute): ReadonlyMap<string, StorageAttribute> {
  const member = (name: string, type: ScalarType, head: HeadMember): [string, StorageAttribute] => [
    name,
    {
      ...key,
      ...parametersOf(),
      name,
      type,
      head,
      position: 0,
      indexed: false,
      unique: false,
      autoFill: undefined,
      description: undefined,
      extraProperties: undefined,
    },
  ]
  return new Map([
    ['__KEY', key],
    member('__STAMP', 'long', 'stamp'),
    member('__TIMESTAMP', 'date', 'timestamp'),
    member('__GlobalStamp', 'number', 'globalStamp'),
  ])
}
