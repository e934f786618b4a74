import { useEffect, useRef } from 'preact/hooks'
import { REST } from '../base/rest.ts'
import { pathOf, selection } from '../base/selection.ts'
import { complain, notify } from '../base/work.ts'
import { copyText } from './copy-text.ts'
import { asCurl, asFetch, asQuery, type RepeatedRead } from './request-text.ts'
import { text } from './texts.ts'
import './copy-as.css'

const FORMS = {
  link: () => location.href,
  curl: asCurl,
  fetch: asFetch,
  query: asQuery,
} as const

/** A menu that copies the shown selection, as a link to this page or as a request, and saves its entities. */
export function CopyAs() {
  const menu = useRef<HTMLDetailsElement>(null)
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
    copyText(FORMS[form](shownRead())).then(() => notify(text('copied')), complain)
  }
  const save = (): void => {
    close()
    import('../look/selection-csv.ts').then(({ saveCsv }) => saveCsv(selection.value!)).catch(complain)
  }
  return (
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
        <button type="button" class="quiet" onClick={save}>
          {text('csv')}
        </button>
      </div>
    </details>
  )
}

function shownRead(): RepeatedRead {
  const shown = selection.value!
  return { address: `${location.origin}${REST}${pathOf(shown)}`, filter: shown.filter, order: shown.order }
}
