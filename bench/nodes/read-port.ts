/** Default port of the proxy; 8080 is the port of a server that is started without options. */
const PORT = 8090
const MAX_PORT = 65_535

export const NODES_USAGE = `npm run nodes [-- PORT]

Starts two servers over a temporary PostgreSQL database, and a proxy that sends requests to one server after the other.
PORT is the port of the proxy, ${PORT} by default; 0 picks a free one. PostgreSQL must be installed. Ctrl-C ends everything.`

/** Reads the arguments of the command. @returns a text to print instead of starting, if the user wants help or has made a mistake */
export function readPort(args: readonly string[]): number | { readonly text: string; readonly isWanted: boolean } {
  const [first, ...others] = args
  if (args.some(each => each === '--help' || each === '-h')) return { text: NODES_USAGE, isWanted: true }
  if (first === undefined) return PORT
  const port = /^\d{1,5}$/.test(first) ? Number(first) : Number.NaN
  if (others.length === 0 && port <= MAX_PORT) return port
  return {
    text: `expected a port from 0 to ${MAX_PORT}, received ${args.join(' ')}\n\n${NODES_USAGE}`,
    isWanted: false,
  }
}
