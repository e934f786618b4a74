import { useRef } from 'preact/hooks'
import { storedInput } from './changes.ts'
import { controlOf, shownText, typedInput } from './control.ts'
import { type FieldProps, inputIn, setInput } from './draft.ts'
import type { Editor, Input } from './editor.ts'
import { text } from './texts.ts'

interface Props extends FieldProps {
  readonly id: string
  readonly editor: Editor
}

const MAX_ROWS = 14

/** The field of a text, a number or a date. */
export function TextField({ draft, attribute, editor, ...inputProps }: Props) {
  /** Text after typing: setting the same date in another form would end the typing of a year. */
  const last = useRef<{ readonly typed: string; readonly input: Input } | undefined>(undefined)
  const storedValue = storedInput(draft, attribute)
  const before = inputIn(draft, attribute)
  const control = controlOf(attribute, storedValue)
  const value = last.current?.input === before ? last.current.typed : shownText(control, before)
  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }): void => {
    const typed = currentTarget.value
    const input = typedInput(control, {
      stored: storedValue,
      before,
      typed,
      isPartial: currentTarget.validity.badInput,
    })
    last.current = { typed, input }
    setInput(attribute, input)
  }
  const fieldProps = {
    ...inputProps,
    value,
    onInput,
    spellcheck: false,
    placeholder: before === '' ? text('empty') : editor === 'duration' ? '0:00:00' : 'null',
  }
  if (control !== 'area') {
    return (
      <input
        {...fieldProps}
        // The types of Preact do not accept a union here.
        type={control as 'text'}
        step={control === 'datetime-local' ? '0.001' : undefined}
        inputMode={editor === 'number' ? 'decimal' : undefined}
        autocomplete="off"
      />
    )
  }
  const lines = value.split('\n', MAX_ROWS).length
  // Enter saves, as in a single-line field, while there is only one line and no more are expected.
  const isShort = editor === 'text' && lines === 1
  return (
    // Also used for a single line: an `input` drops line breaks, and replacing the element while the user pastes would lose the
    // focus.
    <textarea
      {...fieldProps}
      class={editor === 'text' || editor === 'lines' ? '' : 'json'}
      rows={editor === 'text' ? lines : Math.max(3, lines + 1)}
      onKeyDown={event => {
        if (!isShort || event.key !== 'Enter' || event.shiftKey || event.ctrlKey || event.isComposing) return
        event.preventDefault()
        event.currentTarget.form?.querySelector<HTMLButtonElement>('[type=submit]')?.click()
      }}
    />
  )
}
