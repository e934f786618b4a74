import { defineErrors, errorsWith } from '../../engine/index.ts'

/** Errors of addresses that cannot be parsed. Positions count from 1. Source: protocol notes, 5.9; statuses by the design decisions. */
export const UrlErrors = defineErrors('URL', {
  ...errorsWith({ errCode: 1806, http: 400 })({
    EMPTY_PATH: () => '/rest is followed by a dataclass or a service: GET /rest/$catalog lists the dataclasses',
    MALFORMED_PATH: (received: string, position: number, expected: string) =>
      `cannot read the path "${received}" at character ${position}: expected ${expected}`,
    TOO_MANY_PARTS: (limit: number) => `the path has more than ${limit} parts behind the dataclass or service`,
    MALFORMED_ENCODING: (received: string) =>
      `cannot decode "${received}": percent signs start a UTF-8 byte such as %20, a plain percent sign is written %25`,
    UNSAFE_SEGMENT: (received: string) =>
      `"${received}" cannot stand in this path: ".", "..", encoded slashes, backslashes and control characters are refused`,
  }),
  ...errorsWith({ errCode: 1807, http: 400 })({
    AMPERSAND_IN_PATH: (position: number) =>
      `received "&" at character ${position} of the path, where "?" was expected`,
  }),
  ...errorsWith({ errCode: 1808, http: 400 })({
    UNCLOSED_SINGLE_QUOTE: (where: string, position: number) =>
      `the single quote at character ${position} of the ${where} is not closed; a plain quote at a value's start is written inside double quotes`,
  }),
  ...errorsWith({ errCode: 1809, http: 400 })({
    UNCLOSED_DOUBLE_QUOTE: (where: string, position: number) =>
      `the double quote at character ${position} of the ${where} is not closed; a plain quote at a value's start is written inside single quotes`,
  }),
})

/** Start of a received text, short enough for a message. */
export function shorten(received: string): string {
  return received.length <= 60 ? received : `${received.slice(0, 60)}…`
}
