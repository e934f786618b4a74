/** The user, as the server knows the session. */
import { signal } from '@preact/signals'
import { loadCatalog } from './catalog.ts'
import { forgetUser } from './remembered.ts'
import { ask } from './rest.ts'

interface User {
  readonly userName: string
  readonly fullName: string
}

/** Null for a guest; undefined until the server has said it. */
export const user = signal<User | null | undefined>(undefined)
/** Privileges of the session, a guest's too. */
export const privileges = signal<readonly string[]>([])
/** Whether the user may administrate the server. */
export const isAdministrator = signal(false)

interface CurrentUser {
  readonly result: User | null
  readonly privileges: readonly string[]
  readonly administrator: boolean
}

/** Asks who the user is and what there is to see. */
export async function loadSession(): Promise<void> {
  const [who] = await Promise.all([ask<CurrentUser>('$directory/currentUser'), loadCatalog()])
  user.value = who.result
  privileges.value = who.privileges
  isAdministrator.value = who.administrator
}

/** @throws {RestError} 401: the name or the password is wrong */
export async function logIn(name: string, password: string): Promise<void> {
  await ask('$directory/login', {}, { body: [name, password] })
  await loadSession()
}

export async function logOut(): Promise<void> {
  await ask('$directory/logout', {}, { method: 'POST' })
  forgetUser()
  await loadSession()
}
