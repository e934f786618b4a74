/** Prints a line on the standard output. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** Exit code of a failure that may not recur on another try. */
export const FAILED = 1
