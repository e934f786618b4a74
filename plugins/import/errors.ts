import { defineErrors } from '../../kernel/api.ts'

export const ImportErrors = defineErrors('IMPORT', {
  ADMINISTRATORS_ONLY: {
    errCode: 1611,
    http: 401,
    message: (isGuest: boolean) =>
      isGuest
        ? '$import is for administrators: log in, or send a key or a token'
        : '$import is for administrators: the session lacks the privilege WebAdmin',
  },
  ADDRESS: {
    errCode: 1806,
    http: 404,
    message: (verb: string) =>
      verb === 'POST'
        ? 'rows are sent to $import and the name of a dataclass: POST /rest/$import/City'
        : verb === 'GET'
          ? '$import lists the running imports; it has no parts for GET'
          : 'an import is ended by its id: DELETE /rest/$import/1',
  },
  NOT_RUNNING: {
    errCode: 1806,
    http: 404,
    message: (id: string) => `there is no running import "${id}"; GET /rest/$import lists them`,
  },
  UNKNOWN_FORMAT: {
    errCode: 1806,
    http: 400,
    message: (received: string, known: readonly string[]) =>
      received === ''
        ? `the format of the rows is not known; send $format with one of ${known.join(', ')}, or a Content-Type`
        : `$format=${received} is not a format of rows; use one of ${known.join(', ')}`,
  },
  PARAMETER: {
    errCode: 1806,
    http: 400,
    message: (name: string, received: string, would: string) => `${name}=${received} cannot be used; it is ${would}`,
  },
  UNREADABLE: {
    errCode: 1806,
    http: 400,
    /** @param saved rows that were saved before */
    message: (reason: string, saved: number) =>
      `the rows cannot be imported: ${reason}${saved > 0 ? `; ${saved} were saved before` : ''}`,
  },
})
