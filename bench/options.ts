import { parseArgs } from 'node:util'
import { suggestion } from '../engine/base/suggestion.ts'

export interface Options {
  quick: boolean
  /** Names of cases; empty for all. */
  cases: readonly string[]
  employees: number
  seed: number
  assert: boolean
  json: string | undefined
  html: string | undefined
  svg: string | undefined
  compare: readonly [string, string] | undefined
  /** Length of a round. */
  seconds: number
  rounds: number
  warmUpSeconds: number
  connections: number
  /** Folder for CPU profiles of our server. */
  profile: string | undefined
}

export const USAGE = `node bench [options]
  --quick              100 k rows and short rounds: some six minutes in all
  --case NAME          only this case; can be repeated
  --rows 100k|1m       employees in the world (1m)
  --seconds N          length of a round (2, quick 0.4)
  --connections N      connections at once (32; what writes has its own number)
  --seed N             of the world (1)
  --assert             exit code 1 when a case misses a goal, or fails
  --json FILE          write the report as JSON
  --html FILE          write the report as a page with charts
  --svg FILE           write the questions over HTTP as a picture, beside the baseline
  --compare A B        compare two JSON reports and run nothing
  --profile FOLDER     write CPU profiles of our server, a file for each thread`

export class UsageError extends Error {}

/** @throws {UsageError} saying what is wrong and what is expected */
export function readOptions(args: readonly string[], knownCases: readonly string[]): Options | 'help' {
  const { values, positionals } = parse(args)
  if (values.help) return 'help'
  const { quick = false, case: cases = [] } = values
  for (const name of cases) {
    if (knownCases.includes(name)) continue
    const hint = suggestion(name, knownCases) || `; there are ${knownCases.join(', ')}`
    throw new UsageError(`--case: there is no case "${name}"${hint}`)
  }
  if (values.compare ? positionals.length !== 1 : positionals.length > 0) {
    throw new UsageError(
      values.compare
        ? '--compare takes two JSON reports'
        : `"${positionals[0]}" is not an option; for a case say --case`,
    )
  }
  return {
    quick,
    cases,
    employees: rowCount(values.rows ?? (quick ? '100k' : '1m')),
    seed: number('seed', values.seed ?? '1', 0),
    assert: values.assert ?? false,
    json: values.json,
    html: values.html,
    svg: values.svg,
    compare: values.compare ? [values.compare, positionals[0]!] : undefined,
    seconds: number('seconds', values.seconds ?? (quick ? '0.4' : '2'), 0.05),
    rounds: quick ? 3 : 5,
    warmUpSeconds: quick ? 0.3 : 3,
    connections: number('connections', values.connections ?? '32', 1),
    profile: values.profile,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        case: { type: 'string', multiple: true },
        rows: { type: 'string' },
        seconds: { type: 'string' },
        connections: { type: 'string' },
        seed: { type: 'string' },
        assert: { type: 'boolean' },
        json: { type: 'string' },
        html: { type: 'string' },
        svg: { type: 'string' },
        compare: { type: 'string' },
        profile: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause })
  }
}

const MIN_ROWS = 10_000

function rowCount(text: string): number {
  const [, digits, unit] = /^(\d+)([km]?)$/i.exec(text) ?? []
  const rows = Number(digits) * ({ k: 1e3, m: 1e6 }[unit?.toLowerCase() ?? ''] ?? 1)
  if (!(rows >= MIN_ROWS && rows <= 1e8)) throw new UsageError(`--rows: "${text}" is not between 10k and 100m`)
  return rows
}

function number(name: string, text: string, min: number): number {
  const value = Number(text)
  if (!(value >= min)) throw new UsageError(`--${name}: "${text}" is not a number from ${min} on`)
  return value
}
