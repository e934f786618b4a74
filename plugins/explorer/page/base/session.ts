/** The user, as the server knows the session. */
import { batch, signal } from '@preact/signals'
import { catalog, loadCatalog } from './catalog.ts'
import { go, linkTo, place } from './place.ts'
import { forgetUser, remembered } from './remembered.ts'
import { ask } from './rest.ts'

interface User {
  readonly userName: string
  readonly fullName: string
}

/** Null for a guest; undefined until the server has said it. */
export const user = signal<User | null | undefined>(undefined)
/** Privileges of the session, a guest's too. */
export const privileges = signal<readonly string[]>([])
/** Whether the user is asked for a name and a password. */
export const isLoggingIn = signal(false)
/** Whether the user may administrate the server. */
export const isAdministrator = signal(false)

export interface CurrentUser {
  readonly result: User | null
  readonly privileges: readonly string[]
  readonly administrator: boolean
}

/** Name of the user of whom this browser has traces; empty for guests. */
const owner = remembered('owner', '')

/** Asks who the user is and what there is to see. What another user has left is forgotten before anything is shown. */
export async function loadSession(): Promise<void> {
  const [who, next] = await Promise.all([ask<CurrentUser>('$directory/currentUser'), loadCatalog()])
  const name = who.result?.userName ?? ''
  if (owner.value !== '' && owner.value !== name) {
    // The address may name what the last user could see: a class that is still there is all that stays of it.
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

/** @throws {RestError} 401: the name or the password is wrong */
export async function logIn(name: string, password: string): Promise<void> {
  await ask('$directory/login', {}, { body: [name, password] })
  await loadSession()
}

export async function logOut(): Promise<void> {
  await ask('$directory/logout', {}, { method: 'POST' })
  // Without one there is no view that asks for something.
  catalog.value = undefined
  await loadSession()
}
