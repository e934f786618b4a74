import { effect } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { selection } from '../base/selection.ts'
import { complain } from '../base/work.ts'
import type { Check } from './check.ts'
import { apply, draft } from './draft.ts'
import type { FilterEditor } from './editor.ts'
import { errorPlace } from './error-place.ts'
import { text } from './texts.ts'

/** The text of the draft: a plain input until its first use, then an editor with colours and completion. */
export function FilterInput({ check }: { readonly check: Check }) {
  const [isWanted, setWanted] = useState(wasUsed)
  const [editor, setEditor] = useState<FilterEditor>()
  const frame = useRef<HTMLDivElement>(null)
  const plainInput = useRef<HTMLInputElement>(null)

  useEffect(() => {
    if (!isWanted) return
    wasUsed = true
    let newEditor: FilterEditor | undefined
    let isGone = false
    import('./editor.ts').then(({ createEditor }) => {
      if (isGone || !frame.current) return
      const input = plainInput.current
      newEditor = createEditor({
        parent: frame.current,
        label: text('filter'),
        placeholder: text('placeholder'),
        dataClass: () => selection.value!.dataClass,
        onChange: newText => {
          draft.value = newText
        },
        onSubmit: apply,
      })
      newEditor.setText(draft.value)
      if (input && document.activeElement === input)
        newEditor.select(input.selectionStart ?? 0, input.selectionEnd ?? 0)
      setEditor(newEditor)
    }, complain)
    return () => {
      isGone = true
      newEditor?.destroy()
    }
  }, [isWanted])

  // The address may contain an invalid filter; only the editor can show the error.
  useEffect(() => {
    if (check.kind === 'error') setWanted(true)
  }, [check])
  // A separate subscription: an effect of a later rendering could restore a text that has been edited since.
  useEffect(() => editor && effect(() => editor.setText(draft.value)), [editor])
  useEffect(() => {
    if (check.kind !== 'error' || check.filter !== draft.value) return editor?.mark(undefined)
    const message = check.error instanceof Error ? check.error.message : String(check.error)
    editor?.mark(message, errorPlace(message, check.filter))
  }, [editor, check])

  return (
    <div class="filter" data-wrong={check.kind === 'error'}>
      <div ref={frame} class="editor" />
      {!editor && (
        <input
          ref={plainInput}
          aria-label={text('filter')}
          placeholder={text('placeholder')}
          value={draft.value}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-invalid={check.kind === 'error'}
          aria-describedby="find-answer"
          onFocus={() => setWanted(true)}
          onInput={({ currentTarget }) => {
            draft.value = currentTarget.value
          }}
        />
      )}
    </div>
  )
}

/** True after the first use: later views then load the editor immediately. */
let wasUsed = false
