import { defineErrors } from '../../kernel/api.ts'

export const PostQueryErrors = defineErrors('POST_QUERY', {
  NOT_POST: {
    errCode: 1813,
    http: 405,
    allow: ['POST'],
    message: (verb: string) => `$query is sent with POST, this was ${verb}; a GET has its parameters in the URL`,
  },
  TOO_LARGE: {
    errCode: 1806,
    http: 400,
    message: () => 'the body of $query has a number beyond 1.8e308; numbers are those of double precision',
  },
  TOO_DEEP: {
    errCode: 1806,
    http: 400,
    message: (levels: number) => `the body of $query is nested deeper than ${levels} levels`,
  },
  NOT_AN_OBJECT: {
    errCode: 1806,
    http: 400,
    message: () => 'the body of $query is a JSON object of parameters, for example {"$filter":"salary > 20000"}',
  },
})
