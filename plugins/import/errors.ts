import { defineErrors } from '../../kernel/api.ts'

export const ImportErrors = defineErrors('IMPORT', {
  ADDRESS: {
    errCode: 1806,
    http: 404,
    message: () =>
      'POST /rest/$import/City saves rows in the dataclass City, GET /rest/$import lists imports that are running, and DELETE /rest/$import/1 ends one',
  },
  NOT_RUNNING: {
    errCode: 1806,
    http: 404,
    message: (id: string) => `there is no running import "${id}"; GET /rest/$import lists them`,
  },
  NO_FORMAT: {
    errCode: 1806,
    http: 400,
    message: (known: readonly string[]) =>
      `the format of the rows is not known; send $format with one of ${known.join(', ')}, or a Content-Type`,
  },
  PARAMETER: {
    errCode: 1806,
    http: 400,
    message: (name: string, received: string, would: string) => `${name}=${received} cannot be used; it is ${would}`,
  },
  UNREADABLE: {
    errCode: 1806,
    http: 400,
    message: (reason: string, saved: number) => `the import ended: ${reason}; ${saved} rows were saved before`,
  },
})
