import { bytes, integer, number } from '../option.ts'

/** Options for plugin code. */
export const functionOptions = {
  'functions.threads': integer({
    default: 0,
    min: 0,
    doc: 'Number of threads for plugin code; 0: one less than the number of processor cores, at least two.',
  }),
  'functions.queueLimit': integer({
    default: 256,
    min: 0,
    doc: 'Maximum number of calls that wait for a thread for plugin code; beyond it the server answers 503.',
  }),
  'functions.deadlineSeconds': number({
    default: 5,
    min: 0.001,
    doc: 'Deadline of a function that does not set `deadlineSeconds`. When it passes, the thread is ended and replaced.',
  }),
  'functions.asyncDeadlineSeconds': number({
    default: 30,
    min: 0.001,
    doc: 'Deadline, including waiting, of an asynchronous function that does not set `deadlineSeconds`; `functions.deadlineSeconds` limits the time that its code runs.',
  }),
  'functions.asyncLimit': integer({
    default: 4096,
    min: 1,
    doc: 'Maximum number of calls of asynchronous functions that have not ended; beyond it the server answers 503.',
  }),
  'functions.loadSeconds': number({
    default: 10,
    min: 1,
    doc: 'Maximum time to load the modules of all plugins in one of these threads; if loading takes longer, the server does not start.',
  }),
  'functions.memoryBytes': bytes({
    default: '256 MiB',
    min: 2 ** 24,
    doc: 'Memory for plugin code in each of these threads; a thread that needs more is ended and replaced.',
  }),
  'functions.argumentBytes': bytes({
    default: '8 MiB',
    min: 1024,
    doc: 'Maximum size of a body with the arguments of a function, never more than an eighth of `functions.memoryBytes`.',
  }),
  'functions.logLines': integer({
    default: 100,
    min: 0,
    doc: 'Maximum number of lines that the `console` of one call writes to the server log; further lines are only counted.',
  }),
  'functions.breakerLimit': integer({
    default: 3,
    min: 1,
    doc: 'Number of consecutive calls of a function that end their threads after which calls of the function are refused for a while.',
  }),
  'functions.breakerPauseSeconds': number({
    default: 30,
    min: 0,
    doc: 'Time for which calls of such a function are refused.',
  }),
} as const
