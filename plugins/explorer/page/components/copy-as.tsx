import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { addressOf } from '../base/rest.ts'
import { targetOf } from '../base/catalog.ts'
import { place } from '../base/place.ts'
import { parametersOf, pathOf, selection } from '../base/selection.ts'
import { askedFor, parseColumns } from '../browse/columns.ts'
import { complain, notify } from '../base/work.ts'
import { lazy } from '../shell/lazy.tsx'
import { copyText } from './copy-text.ts'
import { asCurl, asFetch, asQuery, type RepeatedRequest } from './request-text.ts'
import { text } from './texts.ts'
import './copy-as.css'

const ExportDialog = lazy(async () => (await import('../transfer/export-dialog.tsx')).ExportDialog)

const FORMS = {
  link: () => location.href,
  curl: asCurl,
  fetch: asFetch,
  query: asQuery,
} as const

/** A menu that copies the shown selection, as a link to this page or as a request, and exports its entities. */
export function CopyAs() {
  const menu = useRef<HTMLDetailsElement>(null)
  const isExporting = useSignal(false)
  useEffect(() => {
    const closeOutside = ({ target }: Event): void => {
      if (!menu.current?.contains(target as Node)) close()
    }
    document.addEventListener('pointerdown', closeOutside)
    return () => document.removeEventListener('pointerdown', closeOutside)
  }, [])
  const close = (): void => {
    if (menu.current) menu.current.open = false
  }
  const copy = (form: keyof typeof FORMS): void => {
    close()
    menu.current?.querySelector('summary')?.focus()
    copyForm(form, shownRead())
  }
  return (
    <>
      <details
        class="copy-as"
        ref={menu}
        onKeyDown={({ key }) => {
          if (key !== 'Escape') return
          close()
          menu.current?.querySelector('summary')?.focus()
        }}
      >
        <summary>{text('copyAs')}</summary>
        <div>
          {(Object.keys(FORMS) as (keyof typeof FORMS)[]).map(form => (
            <button key={form} type="button" class="quiet" onClick={() => copy(form)}>
              {text(form)}
            </button>
          ))}
          <button
            type="button"
            class="quiet"
            aria-haspopup="dialog"
            onClick={() => {
              close()
              menu.current?.querySelector('summary')?.focus()
              isExporting.value = true
            }}
          >
            {text('export')}
          </button>
        </div>
      </details>
      {isExporting.value && selection.value && (
        <ExportDialog
          selection={selection.value}
          onClose={() => {
            isExporting.value = false
          }}
        />
      )}
    </>
  )
}

/** The read of the shown selection, with the chosen columns, if any; otherwise with all attributes. */
function shownRead(): RepeatedRequest {
  const currentSelection = selection.value!
  const { dataClass } = currentSelection
  const columns = parseColumns(place.value.query.columns ?? '', dataClass, targetOf)
  const columnParameters = columns.length > 0 ? askedFor(columns, dataClass.key[0]!.name) : {}
  return {
    address: location.origin + addressOf(pathOf(currentSelection)),
    parameters: { ...parametersOf(currentSelection), ...columnParameters },
  }
}

interface CopyRequestProps {
  readonly request: () => RepeatedRequest
}

/** Buttons that copy a given request. */
export function CopyRequest({ request }: CopyRequestProps) {
  return (
    <>
      {(['curl', 'fetch'] as const).map(form => (
        <button key={form} type="button" class="quiet" onClick={() => copyForm(form, request())}>
          {text(form)}
        </button>
      ))}
    </>
  )
}

function copyForm(form: keyof typeof FORMS, request: RepeatedRequest): void {
  copyText(FORMS[form](request)).then(() => notify(text('copied')), complain)
}
