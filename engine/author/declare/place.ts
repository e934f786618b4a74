import { fileURLToPath } from 'node:url'
import { outputUrl } from '../../base/output-root.ts'

const FRAME = /[ (]((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])[^()]*):(\d+):\d+\)?$/

/**
 * File and line of the caller of `callee`: `/acme/classes.ts:12`. In the source if source maps are enabled. Helpers that compilers
 * add, whose names begin with two underscores, are skipped.
 */
export function placeOfCaller(callee: (...args: never[]) => unknown): string | undefined {
  const holder: { stack?: string } = {}
  Error.captureStackTrace(holder, callee)
  return placesIn(holder.stack)[0]
}

/** File and line of the plugin code that threw an error; undefined: no stack, or only frames of this server. */
function placeOfError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return placesIn(error.stack).find(
    place => !COMMANDS.test(place) && !OWN_FOLDERS.some(folder => place.startsWith(folder)),
  )
}

/** The library that runs the commands of this server, and with them everything that they load. */
const COMMANDS = /[\\/]node_modules[\\/]commander[\\/]/

/** Message of a value that plugin code threw, with its {@link placeOfError}. */
export function messageWithPlace(error: unknown): string {
  const message = (error as Partial<Error> | undefined)?.message ?? String(error)
  const place = placeOfError(error)
  return place === undefined ? message : `${message} (${place})`
}

/** The build, and the folders that its source maps name. */
const BUILD = new URL('../../', outputUrl('engine/threads/function-thread.js'))
const OWN_FOLDERS = [BUILD, new URL('../engine/', BUILD), new URL('../kernel/', BUILD)].map(url => fileURLToPath(url))

function placesIn(stack = ''): string[] {
  return stack.split('\n').flatMap(line => {
    const frame = line.trim()
    const match = frame.startsWith('at ') && !frame.startsWith('at __') ? FRAME.exec(frame) : undefined
    if (!match) return []
    const [, file, number] = match
    return `${file!.startsWith('file:') ? fileURLToPath(file!) : file}:${number}`
  })
}
