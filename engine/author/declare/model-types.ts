/** The model in the types of plugin classes. */

/** The dataclasses of the model; `tesser types` adds them. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface Model {}

export type DataClassName = keyof Model extends never ? string : keyof Model & string

// biome-ignore lint/suspicious/noExplicitAny: without a model the attributes are unknown
type Loose = { [name: string]: any }
type Part<N, P extends string> = N extends keyof Model ? (Model[N] extends Record<P, infer T> ? T : never) : Loose
/** Storage attributes, relations and aliases. */
export type Attributes<N extends string> = Part<N, 'attributes'>
export type Calculated<N extends string> = Part<N, 'calculated'>
export type Key<N extends string> = N extends keyof Model ? Part<N, 'key'> : string | number
/** The dataclass that a relation leads to. */
export type Related<N extends string, R> =
  Part<N, 'relations'> extends Record<R & string, infer T extends string> ? T : string
export type RelationName<N extends string> = keyof Part<N, 'relations'> & string
