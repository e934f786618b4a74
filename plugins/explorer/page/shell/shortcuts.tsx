import { useEffect, useState } from 'preact/hooks'
import { lazy } from './lazy.tsx'

interface DialogProps {
  readonly onClose: () => void
}

const DIALOGS = {
  palette: lazy<DialogProps>(async () => (await import('../home/palette.tsx')).Palette),
  help: lazy<DialogProps>(async () => (await import('../home/help.tsx')).Help),
}

/** Dialogs that keys open anywhere on the page: Ctrl+K and `?`. */
export function Shortcuts() {
  const [dialogName, setDialogName] = useState<keyof typeof DIALOGS>()
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const requestedName = dialogOf(event)
      if (!requestedName || document.querySelector('dialog[open]')) return
      event.preventDefault()
      setDialogName(requestedName)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  if (!dialogName) return null
  const Shown = DIALOGS[dialogName]
  return <Shown onClose={() => setDialogName(undefined)} />
}

function dialogOf({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): keyof typeof DIALOGS | undefined {
  if (key.toLowerCase() === 'k' && (ctrlKey || metaKey) && !altKey) return 'palette'
  const isTyping = target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]')
  return key === '?' && !isTyping ? 'help' : undefined
}
