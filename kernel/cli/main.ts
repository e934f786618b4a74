#!/usr/bin/env node
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { outputUrl } from '../../engine/base/output-root.ts'
import { describeSystemError } from '../../engine/base/system-error.ts'
import { FAILED, printError, UNUSABLE } from './outcome.ts'
import { program } from './program.ts'

// Node.js 22 and later cache compiled code. The cache is next to the code itself, so that only users who can change the code can
// change it. In older versions, and if the folder is not writable, this does nothing.
const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown }
enableCompileCache?.(fileURLToPath(new URL('../../compile-cache', outputUrl('kernel/cli/main.js'))))

const UNUSABLE_ERRORS = /^(Config|Model|Roles|Plugin|Declaration|Directory|Migration|Source|Usage|Input)Error$/

/** 128 plus the number of SIGPIPE: exit code of commands whose output is not read to the end. */
const CLOSED_PIPE = 141
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') printError(`tesser: the output cannot be written: ${describeSystemError(error)}`)
  process.exit(error.code === 'EPIPE' ? CLOSED_PIPE : FAILED)
})
// A message that cannot be written does not affect the command.
process.stderr.on('error', () => {})

// An empty variable counts as unset, like the variables of the configuration.
if (process.env.TESSER_KEY === '') delete process.env.TESSER_KEY

try {
  await program.parseAsync()
} catch (error) {
  // Errors that the user can correct have a message that explains how; for a bug in Tesser only the stack helps.
  const isBug = [TypeError, RangeError, ReferenceError].some(type => error instanceof type)
  const text = error instanceof Error && !isBug ? describeSystemError(error) : ((error as Error)?.stack ?? error)
  const missingPart = /^No native build was found|^Cannot find (?:package|module) '[^./]/.test(String(text))
  printError(
    `tesser: ${text}${missingPart ? '\na package is missing: tesser doctor names it and says what to do' : ''}`,
  )
  process.exitCode = error instanceof Error && UNUSABLE_ERRORS.test(error.name) ? UNUSABLE : FAILED
}
