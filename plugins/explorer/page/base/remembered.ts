import { effect, type Signal, signal } from '@preact/signals'

/** A signal whose value outlives the page, in this browser. Where storage is refused it lives as long as the page. */
export function remembered<Value>(name: string, initial: Value): Signal<Value> {
  const key = `tesser.${name}`
  const value = signal(stored(key, initial))
  effect(() => {
    try {
      localStorage.setItem(key, JSON.stringify(value.value))
    } catch {
      // Private windows and full storage.
    }
  })
  return value
}

const OF_USER = 'user.'
const resets: (() => void)[] = []

/** Something that the page holds for a user, and not for the next one. */
export const atLogout = (reset: () => void): void => void resets.push(reset)

/** The same for traces of a user, which may name what the next one must not see: forgotten at a logout. */
export function rememberedOfUser<Value>(name: string, initial: Value): Signal<Value> {
  const value = remembered(OF_USER + name, initial)
  atLogout(() => {
    value.value = initial
  })
  return value
}

export function forgetUser(): void {
  for (const reset of resets) reset()
  try {
    // Parts of the page that are not loaded have no signals yet.
    for (const key of Object.keys(localStorage)) if (key.startsWith(`tesser.${OF_USER}`)) localStorage.removeItem(key)
  } catch {
    // Nothing is stored there either.
  }
}

function stored<Value>(key: string, initial: Value): Value {
  try {
    const text = localStorage.getItem(key)
    return text === null ? initial : (JSON.parse(text) as Value)
  } catch {
    return initial
  }
}
