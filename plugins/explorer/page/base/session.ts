/** The user of the session. */
import { batch, signal } from '@preact/signals'
import { catalog, loadCatalog } from './catalog.ts'
import { go, linkTo, place } from './place.ts'
import { forgetUser, storedSignal } from './remembered.ts'
import { ask } from './rest.ts'

interface User {
  readonly userName: string
  readonly fullName: string
}

/** Null for a guest; undefined until the server has answered. */
export const user = signal<User | null | undefined>(undefined)
/** Privileges of the session, also of a guest's. */
export const privileges = signal<readonly string[]>([])
/** True while the login dialog is open. */
export const isLoggingIn = signal(false)
/** True if the user may administrate the server. */
export const isAdministrator = signal(false)

export interface CurrentUser {
  readonly result: User | null
  readonly privileges: readonly string[]
  readonly administrator: boolean
}

/** Name of the user whose traces this browser has; empty for guests. */
const owner = storedSignal('owner', '')

/** Loads the user and the catalog. Traces of another user are removed before anything is shown. */
export async function loadSession(): Promise<void> {
  const [who, next] = await Promise.all([ask<CurrentUser>('$directory/currentUser'), loadCatalog()])
  const name = who.result?.userName ?? ''
  if (owner.value !== '' && owner.value !== name) {
    // The address may name data of the last user: only a class that this user may see is kept.
    const stays = next.dataClasses.some(each => each.name === place.value.path[0])
    catalog.value = undefined
    go(linkTo(stays ? place.value.path.slice(0, 1) : []), { replace: true })
    forgetUser()
  }
  owner.value = name
  batch(() => {
    user.value = who.result
    privileges.value = who.privileges
    isAdministrator.value = who.administrator
    catalog.value = next
  })
}

/** @throws {RestError} 401 if the name or the password is wrong */
export async function logIn(name: string, password: string): Promise<void> {
  await ask('$directory/login', {}, { body: [name, password] })
  await loadSession()
}

export async function logOut(): Promise<void> {
  await ask('$directory/logout', {}, { method: 'POST' })
  // Without a catalog no view sends requests.
  catalog.value = undefined
  await loadSession()
}
