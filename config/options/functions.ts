import { bytes, integer, number } from '../option.ts'

/** Plugin code. */
export const functionOptions = {
  'functions.threads': integer({
    default: 0,
    min: 0,
    doc: 'Threads for plugin code; 0 for one less than the processor has cores, at least two.',
  }),
  'functions.queueLimit': integer({
    default: 256,
    min: 0,
    doc: 'Maximum number of calls that wait for one of these threads; beyond it the server answers 503.',
  }),
  'functions.deadlineSeconds': number({
    default: 5,
    min: 0.001,
    doc: 'Deadline of a function without a `deadlineSeconds` of its own; then its thread is ended and replaced.',
  }),
  'functions.asyncDeadlineSeconds': number({
    default: 30,
    min: 0.001,
    doc: 'Deadline of an asynchronous function without a `deadlineSeconds` of its own, waiting included; `functions.deadlineSeconds` bounds the time for which its code runs.',
  }),
  'functions.asyncLimit': integer({
    default: 4096,
    min: 1,
    doc: 'Maximum number of calls of asynchronous functions that have not ended; beyond it the server answers 503.',
  }),
  'functions.loadSeconds': number({
    default: 10,
    min: 1,
    doc: 'Maximum time to load the modules of all plugins in one of these threads; beyond it the server does not start.',
  }),
  'functions.memoryBytes': bytes({
    default: '256 MiB',
    min: 2 ** 24,
    doc: 'Memory for plugin code in each of these threads; a thread that needs more is ended and replaced.',
  }),
  'functions.argumentBytes': bytes({
    default: '8 MiB',
    min: 1024,
    doc: 'Maximum size of a body with the arguments of a function; never more than an eighth of `functions.memoryBytes`.',
  }),
  'functions.logLines': integer({
    default: 100,
    min: 0,
    doc: 'Maximum number of lines that the `console` of one call writes to the log; further lines are counted.',
  }),
  'functions.breakerLimit': integer({
    default: 3,
    min: 1,
    doc: 'Consecutive calls of a function that end their threads, after which it is refused for a while.',
  }),
  'functions.breakerPauseSeconds': number({ default: 30, min: 0, doc: 'Time for which such a function is refused.' }),
} as const
