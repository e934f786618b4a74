import { setTimeout as delay } from 'node:timers/promises'
import { keepAsking } from '../own-server/ask.ts'
import { answerParent } from './answer-parent.ts'
import type { CallQuestions } from './questions.ts'

/** Keeps a number of requests in flight. */
answerParent<CallQuestions>({
  keep: ({ port, path, body, connections, seconds }) =>
    keepAsking(port, connections, [path], delay(seconds * 1000), body),
  close: () => null,
})
