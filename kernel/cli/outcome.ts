import { withoutKnownSecrets } from '../../engine/base/known-secrets.ts'

/** Prints a line on the standard output. */
export const print = (line: string): void => void process.stdout.write(`${withoutKnownSecrets(line)}\n`)

/** Prints a line on the standard error. */
export const printError = (line: string): void => void process.stderr.write(`${withoutKnownSecrets(line)}\n`)

/** Ends the process when its output is written, for commands that run plugin code: timers and sockets of it would keep the process. */
export const exitOnceWritten = (): void =>
  void process.stdout.write('', error => {
    // A listener of the stream ends the process.
    if (!error) process.exit()
  })

/** Exit code of a failure that may not recur on another try. */
export const FAILED = 1
/** Exit code for unusable flags, configuration, model, roles or plugins: another try is pointless. */
export const UNUSABLE = 2
