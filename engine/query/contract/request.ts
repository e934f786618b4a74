import type { Coding } from '../../answer/coding.ts'
import type { Access } from '../../permission/views.ts'
import type { KeyList } from '../../row-set/key-list.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import type { PathListItem } from '../parse/parse-path-list.ts'
import type { Params, UnreadParams } from '../parse/parse-params.ts'

/**
 * Read request of a client: plain data that can be cloned to any thread. Names are as received; the bind stage resolves them.
 * Plugins build it, one parameter after the other.
 */
export interface ReadRequest {
  dataClass: string
  /** Rights of the caller. Undefined means no rights, which makes no difference where nothing is restricted. */
  access?: Access | undefined
  source: SelectionSource
  filter?: ClientText
  params?: Params | UnreadParams
  /** True if the result must be complete. An index of vectors may miss rows. */
  exact?: boolean
  /** Text of `$orderby`. An `order by` inside the filter has precedence. */
  orderBy?: ClientText
  skip: number
  /** Maximum number of entities: undefined for the `defaultTop` of the dataclass, Infinity for all. */
  top: number | undefined
  output: Output
}

/**
 * A text as sent by a client. If the address has a raw `+`, also the text with a blank for each of them, which many clients mean:
 * it is used if the text as sent does not follow the grammar.
 */
export type ClientText = string | { readonly text: string; readonly withBlanks: string }

/** Entities of a request before its filter. For entity sets of remote dataclasses, `existing` excludes members that have been deleted. */
export type SelectionSource =
  /** `blank`: the place for a key or an entity set in the address is empty, as in `Class()`. */
  | { kind: 'all'; blank?: true }
  /** `Class(1,2,3)`. An unknown key is an error (1543). In the given order. */
  | { kind: 'keys'; keys: readonly string[] }
  /** `Class:attribute(value)`. */
  | { kind: 'attribute'; attribute: string; value: string }
  /** `Class(key)/relation`: the entities at the end of the relation; `ReadRequest.dataClass` is their dataclass. */
  | { kind: 'related'; from: { dataClass: string; key: string }; relation: string }
  /** An entity set without order. Deleted members are sent as `{"__STAMP":0}`. */
  | { kind: 'set'; members: RowSet; existing?: true }
  /** Row ids in this order: an ordered entity set, or rows found before. Deleted ones are sent as `{"__STAMP":0}`. */
  | { kind: 'rows'; rowIds: Uint32Array; ordered: boolean; existing?: true }
  /** An entity set of a remote dataclass whose keys are not row ids; see `engine/query/source/identity.ts`. */
  | { kind: 'keyList'; members: KeyList; existing?: true }

/** A selection as rows of values: `{"__COUNT":…,"__FIRST":…,"schema":…,"rows":[{"values":[…]},…],"filtersApplied":…}`. */
export interface Table {
  /** Columns as the client sees them, each a scalar attribute of the dataclass. */
  schema: readonly { readonly name: string }[]
  filtersApplied: boolean
}

/** Form of an array of entities with one line for each: JSON, or CSV with a header and the values at paths over its attributes. */
export type RowFormat =
  | { readonly kind: 'lines' }
  | { readonly kind: 'csv'; readonly columns: readonly (readonly string[])[] }

export interface Output {
  /**
   * `collection`: the object of the base specification, 2.6. `array`: `$asArray=true`. `entity`: one entity, or 404.
   * `table`: {@link Table}.
   */
  form: 'collection' | 'array' | 'entity' | 'table'
  /** Columns of the form `table`. */
  table?: Table
  /** Attribute list of the path or of `$attributes`, which show relations differently (protocol notes 1.10, 4.2). */
  attributes?: { from: 'path' | 'parameter'; items: readonly PathListItem[] }
  expand?: readonly PathListItem[]
  /** `__ENTITYSET` of the answer. */
  entitySetUri?: string
  /** True if the selection is an entity set: `__DATACLASS` is in the answer. */
  isEntitySet?: boolean
  /** Set for the answer to a save with counts and failures only. */
  returning?: 'none' | undefined
  pretty?: boolean
  /** Texts, objects and vectors with more bytes of JSON are sent as links with their beginning. */
  briefBytes?: number
  /** Lines in place of an array; for the form `array`. */
  rowFormat?: RowFormat
  /** Compression that may be used for the answer if it is worth it. */
  coding?: Coding | undefined
  /** Descriptions of the filter at the head of a collection: the plan, and the duration and rows of each step. */
  describe?: { plan?: boolean; path?: boolean }
}
