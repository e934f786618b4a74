/** `stopping`: nothing new is accepted, what is in flight is finished. */
export interface Lifecycle {
  state: 'starting' | 'ready' | 'stopping'
}
