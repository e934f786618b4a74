import { defineErrors, errorsWith } from '../../engine/index.ts'

export const PostQueryErrors = defineErrors('POST_QUERY', {
  ...errorsWith({ errCode: 1813, http: 405, allow: ['POST'] })({
    NOT_POST: (verb: string) => `$query is sent with POST, this was ${verb}; a GET has its parameters in the URL`,
  }),
  ...errorsWith({ errCode: 1811, http: 400 })({
    /** Such a member would have no effect: `{"filter": …}` would read every entity. */
    NOT_A_PARAMETER: (name: string) =>
      `"${name}" is not a parameter; names in the body of $query begin with "$", as in "$filter"`,
  }),
})
