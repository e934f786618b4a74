/**
 * Checks of query texts by the compiler: names, and the kinds of values of placeholders. They read a text as `filter.ohm` does, word by
 * word; what they cannot read for certain, such as escaped quotes, is left to the server, which checks everything.
 */
import type { Attributes, Calculated, Model, Related, RelationName } from './model-types.ts'

/** The text of a query itself, or a message about its mistake. `Values`: the values of its placeholders. */
export type QueryText<N extends string, Text extends string, Values extends readonly unknown[] = unknown[]> =
  Checkable<N, Text> extends true ? Verdict<Text, Words<N, Values, Clean<Text>>> : Text

/** The text of an order itself, or a message about its mistake. */
export type OrderText<N extends string, Text extends string> =
  Checkable<N, Text> extends true ? Verdict<Text, Terms<N, Clean<Text>>> : Text

/** A path itself, or a message about its mistake. */
export type PathText<N extends string, Text extends string> =
  Checkable<N, Text> extends true ? Verdict<Text, NoMistake<Path<N, Text>>> : Text

/** True for a literal text that is about a dataclass of the model. */
type Checkable<N extends string, Text extends string> = 0 extends 1 & N
  ? false
  : string extends Text
    ? false
    : N extends keyof Model
      ? true
      : false

/** `Mistake`: a message, or undefined. */
type Verdict<Text, Mistake> = Mistake extends string ? Mistake : Text

/** The text with one kind of blank, and without the contents of values; never if it is uncertain where the values end. */
type Clean<Text extends string> = Text extends `${string}\\${string}` | `${string}{${string}`
  ? never
  : Text extends `${string}"${string}'${string}` | `${string}'${string}"${string}`
    ? never
    : Blanks<WithoutLists<WithoutQuoted<WithoutQuoted<Text, '"'>, "'">>>

type WithoutQuoted<
  Text extends string,
  Quote extends string,
  Done extends string = '',
> = Text extends `${infer Before}${Quote}${infer _}${Quote}${infer After}`
  ? WithoutQuoted<After, Quote, `${Done}${Before}?`>
  : Text extends `${string}${Quote}${string}`
    ? never
    : `${Done}${Text}`

type WithoutLists<
  Text extends string,
  Done extends string = '',
> = Text extends `${infer Before}[${infer _}]${infer After}`
  ? WithoutLists<After, `${Done}${Before}[]`>
  : `${Done}${Text}`

type Blanks<Text extends string> = Text extends `${string}${'\n' | '\t' | '\r' | '(' | ')'}${string}`
  ? Replaced<Replaced<Replaced<Replaced<Replaced<Text, '\n'>, '\t'>, '\r'>, '('>, ')'>
  : Text
type Replaced<
  Text extends string,
  Mark extends string,
  Done extends string = '',
> = Text extends `${infer Before}${Mark}${infer After}` ? Replaced<After, Mark, `${Done}${Before} `> : `${Done}${Text}`

/** Mistake in the conditions at the beginning of the text, each of which has an attribute. */
type Words<N extends string, Values extends readonly unknown[], Text extends string> = [Text] extends [never]
  ? undefined
  : Text extends `${infer Word} ${infer Rest}`
    ? Word extends '' | '!'
      ? Words<N, Values, Rest>
      : Lowercase<Word> extends 'not'
        ? Words<N, Values, Rest>
        : Order<Word, Rest> extends `${infer Order}`
          ? Terms<N, Order>
          : Condition<N, Values, Word, Rest>
    : Text extends ''
      ? undefined
      : Condition<N, Values, Text, ''>

/** The terms of the order that begins with this word; undefined if it does not begin an order. */
type Order<Word extends string, Rest extends string> =
  Lowercase<Word> extends 'order'
    ? Trim<Rest> extends `${infer By} ${infer Terms}`
      ? Lowercase<By> extends 'by'
        ? Terms
        : undefined
      : undefined
    : undefined
type Trim<Text extends string> = Text extends ` ${infer Rest}` ? Trim<Rest> : Text

type Condition<
  N extends string,
  Values extends readonly unknown[],
  Word extends string,
  Rest extends string,
> = Word extends `${string}${Special}${string}`
  ? Word extends `!${infer Negated}`
    ? Condition<N, Values, Negated, Rest>
    : Word extends `${string}${Joint}${string}`
      ? undefined
      : Operand<Word> extends infer Name extends string
        ? Checked<N, Values, Name, `${After<Word, Name>} ${Rest}`>
        : never
  : Checked<N, Values, Word, Rest>

type Checked<N extends string, Values extends readonly unknown[], Name extends string, Rest extends string> =
  Path<N, Name> extends infer Found
    ? Found extends Mistake<infer Text>
      ? Text
      : Comparison<N, Values, Name, Found, Rest>
    : never

/** Signs that join conditions, and that may stand between words without blanks. */
type Joint = '&' | '|' | '^'
type Special = Joint | '=' | '!' | '<' | '>' | '#' | '%'

/** The attribute of a word such as `salary>=:1`. */
type Operand<Word extends string> = Before<Before<Before<Before<Before<Before<Word, '='>, '!'>, '<'>, '>'>, '#'>, '%'>
type Before<Word extends string, Mark extends string> = Word extends `${infer Start}${Mark}${string}` ? Start : Word
type After<Word extends string, Start extends string> = Word extends `${Start}${infer Rest}` ? Rest : ''

/** Mistake in a condition after its attribute, beginning with the comparator. */
type Comparison<
  N extends string,
  Values extends readonly unknown[],
  Name extends string,
  Value,
  Text extends string,
> = Text extends `${infer Word} ${infer Rest}`
  ? Lowercase<Word> extends 'and' | 'or' | 'except'
    ? Words<N, Values, Rest>
    : Word extends `${string}${Joint | ':'}${string}`
      ? Word extends '&' | '&&' | '|' | '||' | '^'
        ? Words<N, Values, Rest>
        : Word extends `${string}${Joint}${string}`
          ? undefined
          : ValueMistake<Values, Name, Value, Word> extends infer Found extends string
            ? Found
            : Comparison<N, Values, Name, Value, Rest>
      : Order<Word, Rest> extends `${infer Order}`
        ? Terms<N, Order>
        : Comparison<N, Values, Name, Value, Rest>
  : ValueMistake<Values, Name, Value, Text>

/** Mistake in the terms of an order. */
type Terms<N extends string, Text extends string> = [Text] extends [never]
  ? undefined
  : Text extends `${infer Term},${infer Rest}`
    ? NoMistake<Path<N, FirstWord<Trim<Term>>>> extends infer Found extends string
      ? Found
      : Terms<N, Rest>
    : NoMistake<Path<N, FirstWord<Trim<Text>>>>

type FirstWord<Text extends string> = Text extends `${infer Word} ${string}` ? Word : Text

interface Mistake<Text extends string> {
  readonly mistake: Text
}
type NoMistake<Found> = Found extends Mistake<infer Text> ? Text : undefined

/** Type of the values at the end of a path; unknown if anything is possible there. */
type Path<N extends string, Text extends string> = Text extends
  | ''
  | `${string}${'?' | ':'}${string}`
  | `__${string}`
  | '*'
  ? unknown
  : Text extends `${infer Step}.${infer Rest}`
    ? Step extends RelationName<N>
      ? Path<Related<N, Step>, Rest>
      : Attribute<N, Step> extends Mistake<infer Text>
        ? Mistake<Text>
        : unknown
    : Attribute<N, Text>

/** Type of the values of an attribute. */
type Attribute<N extends string, Step extends string> = Step extends `${infer Name}[]`
  ? Attribute<N, Name> extends Mistake<infer Text>
    ? Mistake<Text>
    : unknown
  : Step extends keyof Attributes<N>
    ? Step extends Durations<N>
      ? unknown
      : NonNullable<Attributes<N>[Step]>
    : Step extends keyof Calculated<N>
      ? NonNullable<Calculated<N>[Step]>
      : Mistake<`no attribute "${Step}" in ${N}`>

/** Attributes whose values are numbers, and may be texts such as `01:30` in a query. */
type Durations<N extends string> = N extends keyof Model ? (Model[N] extends { durations: infer D } ? D : never) : never

/** Signs before a placeholder in its word: `>=:1`. */
type Comparator = '' | '=' | '==' | '===' | '!=' | '!==' | '#' | '##' | '<' | '<=' | '>' | '>=' | '%' | '%%'

/** Mistake in a word such as `:1` or `>=:1`. */
type ValueMistake<
  Values extends readonly unknown[],
  Name extends string,
  Value,
  Word extends string,
> = Word extends `${Comparator}:${infer Position}`
  ? number extends Values['length']
    ? undefined
    : Position extends keyof [undefined, ...Values]
      ? Fits<Value, [undefined, ...Values][Position]> extends true
        ? undefined
        : `:${Position} is not a value for "${Name}"`
      : undefined
  : undefined

type Fits<Value, Given> = unknown extends Value
  ? true
  : Value extends boolean | number | bigint | string
    ? [Extract<Given, Allowed<Value> | readonly unknown[]>] extends [never]
      ? IsOpen<Given>
      : true
    : true
type Allowed<Value> = Value extends string
  ? string | number | bigint | Date
  : Value extends boolean
    ? boolean
    : number | bigint
/** True for a value of unknown type, and for the settings of a query. */
type IsOpen<Given> = unknown extends Given ? true : Given extends Date ? false : Given extends object ? true : false
