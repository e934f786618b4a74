/** Whether the user may import files. */
import { effect, signal } from '@preact/signals'
import { ask } from '../base/rest.ts'
import { isAdministrator } from '../base/session.ts'

/** True if `$import` answers to the user: administrators, unless the server does without it. */
export const mayImport = signal(false)

effect(() => {
  const isAllowed = isAdministrator.value
  mayImport.value = false
  if (!isAllowed) return
  ask('$import').then(
    () => {
      mayImport.value = isAdministrator.peek()
    },
    () => {},
  )
})
