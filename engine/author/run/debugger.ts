import { url } from 'node:inspector'

/**
 * Whether this process listens for a debugger (`--inspect`, or SIGUSR1). No deadline ends a call then: its time may be that of
 * its author at a breakpoint.
 */
export const isDebugged = (): boolean => url() !== undefined
