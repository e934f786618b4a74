import { defineErrors } from '../../kernel/api.ts'

export const JobErrors = defineErrors('JOBS', {
  NOT_FOUND: {
    errCode: 1860,
    http: 404,
    message: (id: string) => `there is no job ${id}; jobs that are done are removed after some time`,
  },
  UNKNOWN_PART: {
    errCode: 1861,
    http: 404,
    message: (received: string, states: readonly string[]) =>
      `$jobs has no part "${received}"; it is followed by the id of a job, 32 hexadecimal digits, or by one of ${states.join(', ')}`,
  },
  UNKNOWN_ACTION: {
    errCode: 1861,
    http: 404,
    message: (received: string, actions: readonly string[]) =>
      `"${received}" cannot be done with jobs; ${actions.join(', ')} can`,
  },
  WRONG_STATE: {
    errCode: 1862,
    http: 409,
    message: (id: string, state: string, action: string) => `the job ${id} is ${state}: it cannot be ${action}`,
  },
  UNKNOWN_FUNCTION: {
    errCode: 1862,
    http: 409,
    message: (name: string) => `no class of a plugin has the job ${name} now, so it cannot run`,
  },
})
