/** `__STAMP`s of which an entity has to have one, or `any`: it has to exist. Source: RFC 9110, 13.1.1, `If-Match`. */
export type ExpectedVersion = readonly number[] | 'any'

/** Whether an entity of this version may be changed. */
export const isExpected = (expected: ExpectedVersion | undefined, stamp: number): boolean =>
  expected === undefined || expected === 'any' || expected.includes(stamp)
