import { defineErrors } from '../../kernel/api.ts'

export const JobErrors = defineErrors('JOBS', {
  NOT_FOUND: {
    errCode: 1543,
    http: 404,
    message: (id: string) => `there is no job ${id}; jobs that are done are removed after some time`,
  },
  UNKNOWN_PART: {
    errCode: 1806,
    http: 404,
    message: (received: string) =>
      `$jobs has no part "${received}"; it is followed by the id of a job, 32 hexadecimal digits, or by waiting, ready, running, done, failed or cancelled`,
  },
  UNKNOWN_ACTION: {
    errCode: 1806,
    http: 404,
    message: (received: string) =>
      `$jobs has no action "${received}"; send POST /$jobs/{id}/cancel, POST /$jobs/{id}/replay, DELETE /$jobs/{id} or POST /$jobs/failed/replay`,
  },
  UNKNOWN_JOB: {
    errCode: 1806,
    http: 404,
    message: (name: string, hint: string) => `no class has the job "${name}", and there is no job of it${hint}`,
  },
  NOT_A_COUNT: {
    errCode: 1806,
    http: 400,
    message: (parameter: string, received: string) =>
      `${parameter}=${received} is not a number of jobs; send a whole number, 0 or more`,
  },
  WRONG_STATE: {
    errCode: 1806,
    http: 409,
    message: (id: string, state: string, action: string) => `the job ${id} is ${state}: it cannot be ${action}`,
  },
  UNKNOWN_FUNCTION: {
    errCode: 1806,
    http: 409,
    message: (name: string) => `no class of a plugin has the job ${name} now, so it cannot run`,
  },
})
