import type { Access } from '../permission/views.ts'
import type { RowSet } from '../row-set/row-set.ts'
import type { PathListItem } from './parse/parse-path-list.ts'
import type { Params } from './parse/parse-params.ts'

/**
 * What a client asks to read: plain data that can be cloned to any thread. Names are as received; the bind stage looks
 * them up. Plugins build it, a parameter at a time.
 */
export interface ReadRequest {
  dataClass: string
  /** Whose rights count. Undefined: nobody's, which is of no consequence where nothing is restricted. */
  access?: Access | undefined
  source: SelectionSource
  filter?: string
  params?: Params
  /** Nothing may be missing, as now and then where an index of vectors is asked. */
  exact?: boolean
  /** Text of `$orderby`. An `order by` inside the filter has precedence. */
  orderBy?: string
  skip: number
  /** Undefined: the dataclass's `defaultTopSize`, else 100. Infinity: all. */
  top: number | undefined
  output: Output
}

/** Which entities, before the filter. */
export type SelectionSource =
  | { kind: 'all' }
  /** `Class(1,2,3)`. An unknown key is an error (1543). In the given order. */
  | { kind: 'keys'; keys: readonly string[] }
  /** `Class:attribute(value)`. */
  | { kind: 'attribute'; attribute: string; value: string }
  /** `Class(key)/relation`: the entities at the end of the relation; `ReadRequest.dataClass` is the one they belong to. */
  | { kind: 'related'; from: { dataClass: string; key: string }; relation: string }
  /** An entity set without order. Its members that do not exist any more are sent as `{"__STAMP":0}`. */
  | { kind: 'set'; members: RowSet }
  /** Row ids in this order: an ordered entity set, or rows found before. Those that do not exist any more are sent as `{"__STAMP":0}`. */
  | { kind: 'rows'; rowIds: Uint32Array; ordered: boolean }

export interface Output {
  /** `collection`: the object of the base specification 2.6. `array`: `$asArray=true`. `entity`: one entity (404 when there is none). */
  form: 'collection' | 'array' | 'entity'
  /** The attribute list of the path, or `$attributes`: they differ in how relations are shown (protocol notes 1.10, 4.2). */
  attributes?: { from: 'path' | 'parameter'; items: readonly PathListItem[] }
  expand?: readonly PathListItem[]
  /** `__ENTITYSET` of the answer. */
  entitySetUri?: string
  /** The selection is an entity set: `__DATACLASS` is in the answer. */
  isEntitySet?: boolean
  pretty?: boolean
  /** What a collection tells in front about its filter, when it has one: the plan, and what each step took and found. */
  describe?: { plan?: boolean; path?: boolean }
}
