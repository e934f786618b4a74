import { Cron } from 'croner'
import { suggestion } from '../../base/suggestion.ts'
import type { Member } from './members.ts'

/** Reasons why the times of a schedule cannot be read. This file is loaded only if a class has a schedule. */
export function timeProblems(member: Member): string[] {
  if (member.kind !== 'schedule') return []
  const { pattern, timeZone } = member
  const problems: string[] = []
  if (typeof pattern === 'string') {
    const reason = failureOf(() => new Cron(pattern, { paused: true }))
    if (reason !== undefined) problems.push(`the pattern "${pattern}" cannot be read: ${reason}`)
  }
  if (typeof timeZone === 'string' && failureOf(() => new Intl.DateTimeFormat('en', { timeZone })) !== undefined) {
    const hint = suggestion(timeZone, Intl.supportedValuesOf('timeZone'))
    problems.push(`there is no time zone "${timeZone}"${hint || '; its name is one such as Europe/Rome'}`)
  }
  return problems
}

function failureOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern: /, '')
  }
}
