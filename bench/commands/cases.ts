import type { CommandCase } from './command-case.ts'
import loadCsv from './load-csv.bench.ts'
import start from './start.bench.ts'

export const COMMAND_CASES: readonly CommandCase[] = [start, loadCsv]
