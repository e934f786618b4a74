/**
 * Texts for clients about errors of statements, by SQLSTATE, or by class: the first two characters. None of the texts names anything
 * that only the database knows; the log has the message of the database. Source: PostgreSQL, appendix A.
 */
type Texts = Readonly<Record<string, string>>

const textOf = (texts: Texts, code: string): string | undefined => texts[code] ?? texts[code.slice(0, 2)]

/** States in which a database cannot serve a request now. They follow its name. */
const STATES: Texts = {
  '25006': 'takes no changes now, it can only be read',
  '40': 'gave way to another transaction',
  '53': 'has too few resources now',
  '53100': 'has no space left on its disk',
  '53200': 'has no memory left',
  '53300': 'has no connection left',
  '55P03': 'has locked what is needed for another transaction',
  '57P01': 'is shutting down',
  '57P02': 'is restarting after a failure',
  '57P03': 'is starting or shutting down',
}

/** State of a database after an error; undefined if the error does not tell, or if the same statement would fail again. */
export const stateOf = (code: string): string | undefined => textOf(STATES, code)

/** States in which a database refuses a connection. */
const CONNECTION_STATES: Texts = {
  '28': 'does not admit the role of the connection',
  '3D': 'does not exist on its server',
}

/** State of a database that has refused a connection; undefined if the error does not tell. */
export const connectionStateOf = (code: string): string | undefined => textOf(CONNECTION_STATES, code) ?? stateOf(code)

/** Reasons why a statement has failed that will fail again. */
const REASONS: Texts = {
  '22': 'a value cannot be computed or converted',
  '23': 'a rule of a table refuses it',
  '28': 'it does not admit the role of the connection',
  '3D': 'it has no database of that name',
  '42501': 'the role of the connection has no right to do this',
  '54': 'it exceeds a limit of the database',
  '58': 'its files or its system have failed',
  P0: 'a trigger or a function has failed',
  XX: 'it has an internal error',
}

export const failureOf = (code: string): string => textOf(REASONS, code) ?? 'it cannot run it'

/** True for an error of a statement whose tables, functions or types are missing or have changed. */
export const isOutdated = (code: string): boolean => /^(?:42703|42P01|42804|42883|3F000|0A000)$/.test(code)

/** Values that are expected in place of one that a column refuses: see `WRITE.WRONG_TYPE`. */
const EXPECTED_VALUES: Texts = {
  '22001': 'a shorter text',
  '22003': 'a number in the range of its column',
  '22007': 'a date or a time in a form that its column takes',
  '22008': 'a date or a time in the range of its column',
  '22021': 'a text without characters that PostgreSQL cannot store',
  '22026': 'a text with as many bits as its column has',
  '22P05': 'a text without characters that PostgreSQL cannot store',
}

/** @param type of the column, as in `pg_type` */
export const expectedValue = (code: string, type: string): string =>
  EXPECTED_VALUES[code] ?? FORMS[type] ?? (type.startsWith('_') ? expectedArray(type.slice(1)) : ANY_VALUE)

const ANY_VALUE = 'a value that its column takes'

const expectedArray = (type: string): string =>
  FORMS[type] ? `an array, each element ${FORMS[type]},` : 'an array whose elements its column takes'

/** Values of types that a text or an object cannot always be converted to. Types of the database itself are left out. */
const FORMS: Texts = {
  bit: 'a text of the digits 0 and 1',
  box: 'a text such as (3,4),(1,2)',
  varbit: 'a text of the digits 0 and 1',
  cidr: 'a network such as 10.0.0.0/8',
  circle: 'a text such as <(1,2),3>',
  daterange: 'a range such as [2020-01-31,2020-02-29)',
  inet: 'an IP address',
  int4range: 'a range such as [1,10)',
  int8range: 'a range such as [1,10)',
  interval: 'an interval such as 1 day 02:00:00',
  json: 'a text in JSON',
  jsonb: 'a text in JSON',
  macaddr: 'a MAC address',
  macaddr8: 'a MAC address',
  money: 'an amount such as 12.50',
  numrange: 'a range such as [1.5,2.5)',
  pg_lsn: 'a text such as 16/B374D848',
  point: 'a point such as (1,2)',
  tsquery: 'a text query such as fat & rat',
  tsrange: 'a range such as [2020-01-31 08:00,2020-01-31 09:30)',
  tstzrange: 'a range such as [2020-01-31 08:00Z,2020-01-31 09:30Z)',
  uuid: 'a UUID',
  xml: 'well-formed XML',
}

/** Reason why the value of a foreign key in another row prevents a change. */
export const REFERENCED = 'a row refers to it'

/** Reasons why an entity is refused, if no attribute can be named. */
const REFUSALS: Texts = {
  '22': 'a rule of the table cannot work with its values',
  '22012': 'a rule of the table divides by zero',
  '23502': 'a value is missing that the table needs',
  '23001': REFERENCED,
  '23503': 'it refers to a row that does not exist',
  '23505': 'another entity has a value that only one may have',
  '23514': 'a check of the table',
  '23P01': 'it conflicts with another entity',
  '428C9': 'the database itself gives one of these columns its value',
  '44': 'the condition of a view',
  // Program limit exceeded: an entry of an index has at most a third of a page.
  '54000': 'a value is too long for an index',
}

/** True for values that conflict with other rows: references and unique values. */
export const isConflict = (code: string): boolean => /^(?:23001|23503|23505)$/.test(code)

/** Reason why an entity is refused; undefined if the error is not about an entity. */
export const refusalOf = (code: string): string | undefined =>
  textOf(REFUSALS, code) ?? (code.startsWith('23') ? 'a rule of the table' : undefined)
