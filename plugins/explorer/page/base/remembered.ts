import { effect, type Signal, signal } from '@preact/signals'

/** A signal whose value is stored in this browser; if storage is refused, it lives as long as the page. */
export function storedSignal<Value>(name: string, initial: Value): Signal<Value> {
  const key = `tesser.${name}`
  const value = signal(readStorage(key, initial))
  effect(() => {
    try {
      localStorage.setItem(key, JSON.stringify(value.value))
    } catch {
      // Private windows and full storage refuse to store.
    }
  })
  return value
}

const OF_USER = 'user.'
const resets: (() => void)[] = []

/** Registers a reset of state that belongs to the user who logs out. */
export const atLogout = (reset: () => void): void => void resets.push(reset)

/** A remembered signal for traces of a user, which may name data that the next user must not see: reset at a logout. */
export function storedSignalOfUser<Value>(name: string, initial: Value): Signal<Value> {
  const value = storedSignal(OF_USER + name, initial)
  atLogout(() => {
    value.value = initial
  })
  return value
}

export function forgetUser(): void {
  for (const reset of resets) reset()
  try {
    // Signals of parts of the page that are not loaded yet do not exist: their values are removed here.
    for (const key of Object.keys(localStorage)) if (key.startsWith(`tesser.${OF_USER}`)) localStorage.removeItem(key)
  } catch {
    // Without storage there is nothing to remove.
  }
}

function readStorage<Value>(key: string, initial: Value): Value {
  try {
    const text = localStorage.getItem(key)
    return text === null ? initial : (JSON.parse(text) as Value)
  } catch {
    return initial
  }
}
