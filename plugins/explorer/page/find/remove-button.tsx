import { text } from './texts.ts'

interface RemoveButtonProps {
  /** Name for screen readers, if several things can be removed. */
  readonly name?: string
  readonly onClick: () => void
}

export function RemoveButton({ name, onClick }: RemoveButtonProps) {
  const label = name === undefined ? text('remove') : text('removeNamed', { name })
  return (
    <button type="button" class="quiet" aria-label={label} title={label} onClick={onClick}>
      ×
    </button>
  )
}
