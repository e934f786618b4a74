import { defineErrors } from '../../base/errors.ts'
import { suggestion } from '../../base/suggestion.ts'

/** Errors of calls of class functions. Source: protocol notes, 5.9 and 7; statuses by the design decisions. */
export const FunctionErrors = defineErrors('FUNCTIONS', {
  /** Also for functions that are not exposed. */
  UNKNOWN_FUNCTION: {
    errCode: -10729,
    http: 404,
    message: (name: string, where: string, known: readonly string[]) =>
      `unknown member method: ${where} has no function "${name}"${suggestion(name, known)}`,
  },
  OTHER_TARGET: {
    errCode: -10729,
    http: 404,
    message: (name: string, where: string, address: string) =>
      `unknown member method: "${name}" of ${where} is called at ${address}`,
  },
  UNKNOWN_SINGLETON: {
    errCode: -10729,
    http: 404,
    message: (name: string, known: readonly string[]) => `there is no singleton "${name}"${suggestion(name, known)}`,
  },
  NOT_BY_GET: {
    errCode: 1829,
    http: 405,
    message: (name: string) => `the function ${name} cannot be called by GET; use POST`,
  },
  /** The log has the details. `name`: the function Employee.raise. */
  THREW: {
    errCode: 1562,
    http: 500,
    message: (name: string, what: string) => `${name} failed with ${what}; the log of the server tells more`,
  },
  DEADLINE: {
    errCode: 1562,
    http: 503,
    message: (name: string, seconds: number) => `${name} was stopped: it exceeded its deadline of ${seconds} s`,
  },
  /** The code of an asynchronous function has run for too long in total, not counting the time for which it waited. */
  BUDGET: {
    errCode: 1562,
    http: 503,
    message: (name: string, seconds: number) => `${name} was stopped: its code ran for more than ${seconds} s`,
  },
  /** The log names the promise. */
  FORGOTTEN_PROMISE: {
    errCode: 1562,
    http: 500,
    message: (name: string) =>
      `${name} returned while something that it had started was still running; it has to await it; the log of the server tells more`,
  },
  /** Another call ended the thread in which this one was waiting. */
  INTERRUPTED: {
    errCode: 1562,
    http: 503,
    message: (name: string, how: string) =>
      `${name} was stopped while it waited, because its thread ended (${how}); what it had saved stays`,
  },
  ENDED_THREAD: {
    errCode: 1562,
    http: 500,
    message: (name: string, how: string) => `${name} was stopped: ${how}`,
  },
  REFUSED: {
    errCode: 1562,
    http: 503,
    message: (name: string, seconds: number) =>
      `${name} is not called for now: each of its last calls had to be stopped; try again in ${seconds} s`,
  },
  BUSY: {
    errCode: 1562,
    http: 503,
    message: (waiting: number) => `the queue of functions is full (${waiting} waiting); try again in a moment`,
  },
  BUSY_WAITING: {
    errCode: 1562,
    http: 503,
    message: (waiting: number) =>
      `${waiting} calls of asynchronous functions are waiting already; try again in a moment`,
  },
  NOT_BEGUN: {
    errCode: 1562,
    http: 503,
    message: (name: string, waitedMs: number) =>
      `${name} has waited for ${waitedMs} ms and no thread for functions was free; try again in a moment`,
  },
  CALLER_GONE: {
    errCode: 1562,
    http: 503,
    message: (name: string) => `${name} has not run to its end: its caller has gone`,
  },
  CLOSED: {
    errCode: 1562,
    http: 503,
    message: () => 'the server is stopping; functions are no longer called',
  },
  BAD_ARGUMENT: {
    errCode: 1603,
    http: 400,
    message: (position: number, problem: string) => `argument ${position} of the function cannot be used: ${problem}`,
  },
  /** The argument does not fit its declaration. `path`: name of the parameter, and the part of it that is wrong. */
  WRONG_ARGUMENT: {
    errCode: 1603,
    http: 400,
    message: (name: string, position: number, path: string, problem: string) =>
      `${name}: argument ${position}, "${path}", ${problem}`,
  },
  SURPLUS_ARGUMENTS: {
    errCode: 1603,
    http: 400,
    message: (name: string, parameters: string, count: number) =>
      `${name} takes the arguments (${parameters}); received ${count}`,
  },
  TOO_MANY_ARGUMENTS: {
    errCode: 1603,
    http: 400,
    message: (count: number, limit: number) => `a function takes at most ${limit} arguments; received ${count}`,
  },
  TOO_MANY_SETS: {
    errCode: 1603,
    http: 400,
    message: (limit: number) => `the arguments of a function name at most ${limit} entity sets by "__DATASET"`,
  },
  /** Thrown before any code of the function ran, so the function is not to blame. */
  UNREADABLE_ARGUMENTS: {
    errCode: 1603,
    http: 413,
    message: (name: string, how: string) => `the arguments of ${name} could not be read: ${how}; send less at a time`,
  },
  NO_ENTITY: {
    errCode: 1543,
    http: 404,
    message: (position: number, dataClass: string, key: string) =>
      `argument ${position} of the function: ${dataClass} has no entity with the key ${key}`,
  },
  BAD_RESULT: {
    errCode: 1562,
    http: 500,
    message: (name: string, problem: string) => `what the function ${name} returned cannot be sent: ${problem}`,
  },
})
