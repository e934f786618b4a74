import { defineErrors } from '../../engine/index.ts'

/** Errors of addresses that cannot be parsed. Positions count from 1. Source: protocol notes, 5.9; statuses by the design decisions. */
export const UrlErrors = defineErrors('URL', {
  EMPTY_PATH: {
    errCode: 1806,
    http: 400,
    message: () => '/rest is followed by a dataclass or a service: GET /rest/$catalog lists the dataclasses',
  },
  MALFORMED_PATH: {
    errCode: 1806,
    http: 400,
    message: (received: string, position: number, expected: string) =>
      `cannot read the path "${received}" at character ${position}: expected ${expected}`,
  },
  TOO_MANY_PARTS: {
    errCode: 1806,
    http: 400,
    message: (limit: number) => `the path has more than ${limit} parts behind the dataclass or service`,
  },
  MALFORMED_ENCODING: {
    errCode: 1806,
    http: 400,
    message: (received: string) =>
      `cannot decode "${received}": percent signs start a UTF-8 byte such as %20, a plain percent sign is written %25`,
  },
  UNSAFE_SEGMENT: {
    errCode: 1806,
    http: 400,
    message: (received: string) =>
      `"${received}" cannot stand in this path: ".", "..", encoded slashes, backslashes and control characters are refused`,
  },
  AMPERSAND_IN_PATH: {
    errCode: 1807,
    http: 400,
    message: (position: number) => `received "&" at character ${position} of the path, where "?" was expected`,
  },
  UNCLOSED_SINGLE_QUOTE: {
    errCode: 1808,
    http: 400,
    message: (where: string, position: number) =>
      `the single quote at character ${position} of the ${where} is not closed; a plain quote at a value's start is written inside double quotes`,
  },
  UNCLOSED_DOUBLE_QUOTE: {
    errCode: 1809,
    http: 400,
    message: (where: string, position: number) =>
      `the double quote at character ${position} of the ${where} is not closed; a plain quote at a value's start is written inside single quotes`,
  },
})

/** Start of a received text, short enough for a message. */
export function shortened(received: string): string {
  return received.length <= 60 ? received : `${received.slice(0, 60)}…`
}
