/** `stopping`: nothing new should be sent here; what comes all the same is answered, for `server.drainMs` and a moment. */
export interface Lifecycle {
  state: 'starting' | 'ready' | 'stopping'
}
