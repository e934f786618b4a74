import { url } from 'node:inspector'

/**
 * True if this process listens for a debugger (`--inspect`, or SIGUSR1). Deadlines are off then: the call may be at a breakpoint. A client
 * that disconnects still ends its request.
 */
export const isDebugged = (): boolean => url() !== undefined
