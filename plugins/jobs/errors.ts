import { defineErrors, errorsWith } from '../../engine/index.ts'

export const JobErrors = defineErrors('JOBS', {
  ...errorsWith({ errCode: 1543, http: 404 })({
    NOT_FOUND: (id: string) => `there is no job ${id}; jobs that are done are removed after some time`,
  }),
  ...errorsWith({ errCode: 1806, http: 404 })({
    UNKNOWN_PART: (received: string) =>
      `$jobs has no part "${received}"; it is followed by the id of a job, 32 hexadecimal digits, or by waiting, ready, running, done, failed or cancelled`,
    UNKNOWN_ACTION: (received: string) =>
      `$jobs has no action "${received}"; send POST /$jobs/{id}/cancel, POST /$jobs/{id}/replay, DELETE /$jobs/{id} or POST /$jobs/failed/replay`,
    UNKNOWN_JOB: (name: string, hint: string) => `no class has the job "${name}", and there is no job of it${hint}`,
  }),
  ...errorsWith({ errCode: 1806, http: 400 })({
    NOT_A_COUNT: (parameter: string, received: string) =>
      `${parameter}=${received} is not a number of jobs; send a whole number, 0 or more`,
  }),
  ...errorsWith({ errCode: 1806, http: 409 })({
    WRONG_STATE: (id: string, state: string, action: string) => `the job ${id} is ${state}: it cannot be ${action}`,
    UNKNOWN_FUNCTION: (name: string) => `no class of a plugin has the job ${name} now, so it cannot run`,
  }),
})
