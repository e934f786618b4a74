/** Detects that the server has ended the session, so that the page no longer shows its data. */
import { catalog } from '../base/catalog.ts'
import { lastStatus, ask } from '../base/rest.ts'
import { type CurrentUser, isLoggingIn, loadSession, user } from '../base/session.ts'
import { notify } from '../base/work.ts'
import { text } from './texts.ts'

/** Minimum time between two checks while all answers are good. There are no checks without other requests: they would keep the session alive. */
const LOOK_MS = 30_000
/** Statuses that may mean an ended session; hidden names are answered with 404. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404])

let lookedAt = Date.now()
let isLooking = false

async function look(isRefused: boolean): Promise<void> {
  const name = user.peek()?.userName
  if (name === undefined || isLooking || (!isRefused && Date.now() - lookedAt < LOOK_MS)) return
  isLooking = true
  try {
    const { result } = await ask<CurrentUser>('$directory/currentUser')
    // The user may have logged out meanwhile.
    if (result?.userName === name || user.peek()?.userName !== name) return
    catalog.value = undefined
    await loadSession()
    notify(text('loggedOut'), {
      label: text('logIn'),
      run: () => {
        isLoggingIn.value = true
      },
    })
  } finally {
    lookedAt = Date.now()
    isLooking = false
  }
}

export function watchSession(): void {
  const run = (isRefused: boolean): void => void look(isRefused).catch(() => {})
  lastStatus.subscribe(status => status && run(REFUSALS.has(status.code)))
  document.addEventListener('visibilitychange', () => document.hidden || run(false))
}
