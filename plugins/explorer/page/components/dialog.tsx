import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { text } from './texts.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A dialog that holds the keyboard focus until it is closed, as the browser's own element does. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opener = document.activeElement
    element.current?.showModal()
    return () => {
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  return (
    <dialog ref={element} aria-label={title} onClose={onClose}>
      <div class="head">
        <h2>{title}</h2>
        <CloseButton onClick={() => element.current?.close()} />
      </div>
      {children}
    </dialog>
  )
}

export const CloseButton = ({ onClick }: { readonly onClick: () => void }) => (
  <button type="button" class="quiet" aria-label={text('close')} title={text('close')} onClick={onClick}>
    ×
  </button>
)
