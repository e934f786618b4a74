import { fileURLToPath } from 'node:url'

/** A frame with a URL, or with a path as source maps give it, which may contain blanks. */
const FRAME = /^ +at (?:.*? \()?(?:async )?(file:\/\/\S+?|\/.*?|[A-Za-z]:\\.*?):\d+:\d+\)?$/

/** Absolute path of the file of a line of a stack trace. Undefined for Node.js itself, for a file of another host, and for other lines. */
export function fileOfFrame(line: string): string | undefined {
  const [, file] = FRAME.exec(line) ?? []
  if (!file?.startsWith('file:')) return file
  try {
    return fileURLToPath(file)
  } catch {
    return undefined
  }
}
