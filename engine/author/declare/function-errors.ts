import { defineErrors, errorsWith } from '../../base/errors.ts'
import { suggestion } from '../../base/suggestion.ts'

/** Errors of calls of class functions. Source: protocol notes, 5.9 and 7; statuses by the design decisions. */
export const FunctionErrors = defineErrors('FUNCTIONS', {
  ...errorsWith({ errCode: -10729, http: 404 })({
    /** Also for functions that are not exposed. */
    UNKNOWN_FUNCTION: (name: string, where: string, known: readonly string[]) =>
      `unknown member method: ${where} has no function "${name}"${suggestion(name, known)}`,
    OTHER_TARGET: (name: string, where: string, address: string) =>
      `unknown member method: "${name}" of ${where} is called at ${address}`,
    UNKNOWN_SINGLETON: (name: string, known: readonly string[]) =>
      `there is no singleton "${name}"${suggestion(name, known)}`,
  }),
  ...errorsWith({ errCode: 1829, http: 405 })({
    NOT_BY_GET: (name: string) => `the function ${name} cannot be called by GET; use POST`,
  }),
  ...errorsWith({ errCode: 1562, http: 500 })({
    /** The log has the details. `name`: the function Employee.raise. */
    THREW: (name: string, what: string) => `${name} failed with ${what}; the log of the server tells more`,
    /** The log names the promise. */
    FORGOTTEN_PROMISE: (name: string) =>
      `${name} returned while something that it had started was still running; it has to await it; the log of the server tells more`,
    ENDED_THREAD: (name: string, how: string) => `${name} was stopped: ${how}`,
  }),
  ...errorsWith({ errCode: 1562, http: 503 })({
    DEADLINE: (name: string, seconds: number) => `${name} was stopped: it exceeded its deadline of ${seconds} s`,
    /** The code of an asynchronous function has run for too long in total, not counting the time for which it waited. */
    BUDGET: (name: string, seconds: number) => `${name} was stopped: its code ran for more than ${seconds} s`,
    /** Another call ended the thread in which this one was waiting. */
    INTERRUPTED: (name: string, how: string) =>
      `${name} was stopped while it waited, because its thread ended (${how}); what it had saved stays`,
    REFUSED: (name: string, seconds: number) =>
      `${name} is not called for now: each of its last calls had to be stopped; try again in ${seconds} s`,
    BUSY: (waiting: number) => `the queue of functions is full (${waiting} waiting); try again in a moment`,
    BUSY_WAITING: (waiting: number) =>
      `${waiting} calls of asynchronous functions are waiting already; try again in a moment`,
    NOT_BEGUN: (name: string, waitedMs: number) =>
      `${name} has waited for ${waitedMs} ms and no thread for functions was free; try again in a moment`,
    CALLER_GONE: (name: string) => `${name} has not run to its end: its caller has gone`,
    CLOSED: () => 'the server is stopping; functions are no longer called',
  }),
  ...errorsWith({ errCode: 1603, http: 400 })({
    BAD_ARGUMENT: (position: number, problem: string) =>
      `argument ${position} of the function cannot be used: ${problem}`,
    /** The argument does not fit its declaration. `path`: name of the parameter, and the part of it that is wrong. */
    WRONG_ARGUMENT: (name: string, position: number, path: string, problem: string) =>
      `${name}: argument ${position}, "${path}", ${problem}`,
    SURPLUS_ARGUMENTS: (name: string, parameters: string, count: number) =>
      `${name} takes the arguments (${parameters}); received ${count}`,
    TOO_MANY_ARGUMENTS: (count: number, limit: number) =>
      `a function takes at most ${limit} arguments; received ${count}`,
    TOO_MANY_SETS: (limit: number) => `the arguments of a function name at most ${limit} entity sets by "__DATASET"`,
  }),
  ...errorsWith({ errCode: 1603, http: 413 })({
    /** Thrown before any code of the function ran, so the function is not to blame. */
    UNREADABLE_ARGUMENTS: (name: string, how: string) =>
      `the arguments of ${name} could not be read: ${how}; send less at a time`,
  }),
  ...errorsWith({ errCode: 1543, http: 404 })({
    NO_ENTITY: (position: number, dataClass: string, key: string) =>
      `argument ${position} of the function: ${dataClass} has no entity with the key ${key}`,
  }),
  ...errorsWith({ errCode: 1562, http: 500 })({
    BAD_RESULT: (name: string, problem: string) => `what the function ${name} returned cannot be sent: ${problem}`,
  }),
})
