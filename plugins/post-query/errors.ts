import { defineErrors } from '../../kernel/api.ts'

export const PostQueryErrors = defineErrors('POST_QUERY', {
  NOT_POST: {
    errCode: 1813,
    http: 405,
    allow: ['POST'],
    message: (verb: string) => `$query is sent with POST, this was ${verb}; a GET has its parameters in the URL`,
  },
  /** Such a member would have no effect: `{"filter": …}` would read every entity. */
  NOT_A_PARAMETER: {
    errCode: 1811,
    http: 400,
    message: (name: string) =>
      `"${name}" is not a parameter; names in the body of $query begin with "$", as in "$filter"`,
  },
})
