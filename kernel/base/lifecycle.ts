/** `stopping`: no new requests should be sent here; those that arrive nevertheless are answered, for `server.drainMs` and a moment. */
export interface Lifecycle {
  state: 'starting' | 'ready' | 'stopping'
}
