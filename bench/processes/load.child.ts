import { drive } from '../load/drive.ts'
import { answerParent } from './answer-parent.ts'
import type { LoadQuestions } from './questions.ts'

/** Sends requests and measures time, in a process apart from the servers and the checks. */
answerParent<LoadQuestions & { close: { question: null; answer: null } }>({ drive, close: () => null })
