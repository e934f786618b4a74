/** Whether the user may import files. */
import { effect, signal } from '@preact/signals'
import { ask } from '../base/rest.ts'
import { isAdministrator } from '../base/session.ts'

/** True if the user may call `$import`: administrators, unless it is disabled on the server. */
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
