/**
 * `stopping`: clients should send no new requests to this server; requests that still arrive are answered, for `server.drainMs` and a
 * moment longer.
 */
export interface Lifecycle {
  state: 'starting' | 'ready' | 'stopping'
}
