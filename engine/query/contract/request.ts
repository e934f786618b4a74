import type { Coding } from '../../answer/coding.ts'
import type { Access } from '../../permission/views.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import type { PathListItem } from '../parse/parse-path-list.ts'
import type { Params, UnreadParams } from '../parse/parse-params.ts'

/**
 * Read request of a client: plain data that can be cloned to any thread. Names are as received; the bind stage looks
 * them up. Plugins build it, a parameter at a time.
 */
export interface ReadRequest {
  dataClass: string
  /** Rights of the caller. Undefined: no rights, which makes no difference where nothing is restricted. */
  access?: Access | undefined
  source: SelectionSource
  filter?: ClientText
  params?: Params | UnreadParams
  /** Nothing may be missing, as now and then where an index of vectors is asked. */
  exact?: boolean
  /** Text of `$orderby`. An `order by` inside the filter has precedence. */
  orderBy?: ClientText
  skip: number
  /** Undefined: the `defaultTop` of the dataclass. Infinity: all. */
  top: number | undefined
  output: Output
}

/**
 * A text as a client sent it, and with a blank for each raw `+` of the address, where it has some: many clients mean that by it.
 * It counts where the text as it stands does not follow the grammar.
 */
export type ClientText = string | { readonly text: string; readonly withBlanks: string }

/** Which entities, before the filter. */
export type SelectionSource =
  /** `blank`: the address has a place for a key or an entity set and leaves it empty, as in `Class()`. */
  | { kind: 'all'; blank?: true }
  /** `Class(1,2,3)`. An unknown key is an error (1543). In the given order. */
  | { kind: 'keys'; keys: readonly string[] }
  /** `Class:attribute(value)`. */
  | { kind: 'attribute'; attribute: string; value: string }
  /** `Class(key)/relation`: the entities at the end of the relation; `ReadRequest.dataClass` is the one they belong to. */
  | { kind: 'related'; from: { dataClass: string; key: string }; relation: string }
  /** An entity set without order. Deleted members are sent as `{"__STAMP":0}`. */
  | { kind: 'set'; members: RowSet }
  /** Row ids in this order: an ordered entity set, or rows found before. Deleted ones are sent as `{"__STAMP":0}`. */
  | { kind: 'rows'; rowIds: Uint32Array; ordered: boolean }

/** A selection as rows of values: `{"__COUNT":…,"__FIRST":…,"schema":…,"rows":[{"values":[…]},…],"filtersApplied":…}`. */
export interface Table {
  /** The columns, each a scalar attribute of the dataclass, as the client sees them. */
  schema: readonly { readonly name: string }[]
  filtersApplied: boolean
}

/** An array of entities as lines: each as JSON, or the values at paths over its attributes as CSV with a head. */
export type RowFormat =
  | { readonly kind: 'lines' }
  | { readonly kind: 'csv'; readonly columns: readonly (readonly string[])[] }

export interface Output {
  /** `collection`: the object of the base specification 2.6. `array`: `$asArray=true`. `entity`: one entity (404 when there is none). `table`: {@link Table}. */
  form: 'collection' | 'array' | 'entity' | 'table'
  /** Columns of the form `table`. */
  table?: Table
  /** The attribute list of the path, or `$attributes`: they differ in how relations are shown (protocol notes 1.10, 4.2). */
  attributes?: { from: 'path' | 'parameter'; items: readonly PathListItem[] }
  expand?: readonly PathListItem[]
  /** `__ENTITYSET` of the answer. */
  entitySetUri?: string
  /** The selection is an entity set: `__DATACLASS` is in the answer. */
  isEntitySet?: boolean
  pretty?: boolean
  /** Texts, objects and vectors whose JSON has more bytes are sent as links with their beginning. */
  briefBytes?: number
  /** Lines in place of an array; for the form `array`. */
  rowFormat?: RowFormat
  /** How the answer may be compressed, when it is worth it. */
  coding?: Coding | undefined
  /** Descriptions of the filter at the head of a collection: the plan, and the time and rows of each step. */
  describe?: { plan?: boolean; path?: boolean }
}
