import { defineErrors, errorsWith } from '../../engine/index.ts'

export const ImportErrors = defineErrors('IMPORT', {
  ...errorsWith({ errCode: 1806, http: 404 })({
    ADDRESS: () =>
      'POST /rest/$import/City saves rows in the dataclass City, GET /rest/$import lists imports that are running, and DELETE /rest/$import/1 ends one',
    NOT_RUNNING: (id: string) => `there is no running import "${id}"; GET /rest/$import lists them`,
  }),
  ...errorsWith({ errCode: 1806, http: 400 })({
    NO_FORMAT: (known: readonly string[]) =>
      `the format of the rows is not known; send $format with one of ${known.join(', ')}, or a Content-Type`,
    PARAMETER: (name: string, received: string, would: string) => `${name}=${received} cannot be used; it is ${would}`,
    UNREADABLE: (reason: string, saved: number) => `the import ended: ${reason}; ${saved} rows were saved before`,
  }),
})
