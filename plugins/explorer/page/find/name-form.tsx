interface NameFormProps {
  readonly label: string
  readonly button: string
  readonly onName: (name: string) => void
}

/** Input for the name of something to be kept. Not a form, since it is inside the form of the filter. */
export function NameForm({ label, button, onName }: NameFormProps) {
  const take = (input: HTMLInputElement | null): void => {
    const name = input?.value.trim()
    if (!input || !name) return
    onName(name)
    input.value = ''
  }
  return (
    <div class="name">
      <input
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        maxLength={80}
        onKeyDown={event => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          take(event.currentTarget)
        }}
      />
      <button type="button" onClick={({ currentTarget }) => take(currentTarget.parentElement!.querySelector('input'))}>
        {button}
      </button>
    </div>
  )
}
