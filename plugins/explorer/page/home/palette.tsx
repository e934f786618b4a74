import { useState } from 'preact/hooks'
import { catalog, targetOf } from '../base/catalog.ts'
import { go, linkTo } from '../base/place.ts'
import { recentPlaces } from '../base/recent.ts'
import { isKnown } from '../find/complete.ts'
import { inOneText, savedFilters } from '../find/saved.ts'
import { Dialog } from '../components/dialog.tsx'
import { isShown, PAGES } from '../shell/rooms.ts'
import { text as shellText } from '../shell/texts.ts'
import { type Entry, findEntries, keyedEntry } from './match.ts'
import { text } from './texts.ts'
import './home.css'

/** Quick access to dataclasses, pages, recent places, and to an entity by its key. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [searchText, setSearchText] = useState('')
  const [at, setAt] = useState(0)
  const entries = [...keyed(searchText), ...findEntries(allEntries(), searchText)]
  const chosenIndex = Math.min(at, entries.length - 1)
  const open = (entry: Entry | undefined): void => {
    if (!entry) return
    onClose()
    go(entry.link)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && entries.length > 0) {
      event.preventDefault()
      setAt((chosenIndex + step + entries.length) % entries.length)
    }
    if (event.key === 'Enter') open(entries[chosenIndex])
  }
  return (
    <Dialog title={text('palette')} onClose={onClose}>
      <div class="palette">
        <input
          autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={entries.length > 0 ? `palette-${chosenIndex}` : undefined}
          aria-label={text('paletteHint')}
          placeholder={text('paletteHint')}
          value={searchText}
          onInput={({ currentTarget }) => {
            setSearchText(currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
        <div id="palette-list" role="listbox" aria-label={text('palette')}>
          {entries.map((entry, i) => (
            <div
              key={`${entry.kind} ${entry.link}`}
              id={`palette-${i}`}
              role="option"
              tabIndex={-1}
              aria-selected={i === chosenIndex}
              onClick={() => open(entry)}
              onKeyDown={onKeyDown}
            >
              <span>{entry.title}</span>
              <small>{entry.kind}</small>
            </div>
          ))}
        </div>
        <p role="status" class="hint">
          {text('entries', { count: entries.length })}
        </p>
      </div>
    </Dialog>
  )
}

const names = (): string[] => catalog.value?.dataClasses.map(({ name }) => name) ?? []

function allEntries(): Entry[] {
  const all = catalog.value?.dataClasses ?? []
  return [
    ...names().map(name => ({ title: name, kind: text('class'), link: linkTo([name]) })),
    ...PAGES.filter(isShown).map(({ path, title }) => ({
      title: shellText(title),
      kind: text('page'),
      link: linkTo([path]),
    })),
    ...all.flatMap(dataClass =>
      (savedFilters.value[dataClass.name] ?? [])
        .filter(each => isKnown(inOneText(each), dataClass, targetOf))
        .map(({ name, filter, order }) => ({
          title: `${dataClass.name} ${name}`,
          kind: text('savedFilter'),
          link: linkTo([dataClass.name], { filter, order }),
        })),
    ),
    ...recentPlaces.value
      .filter(({ detail }) => detail !== '')
      .map(({ title, detail, link }) => ({ title: `${title} ${detail}`, kind: text('recent'), link })),
  ]
}

function keyed(searchText: string): Entry[] {
  const match = keyedEntry(searchText, names())
  if (!match) return []
  const { dataClass, key } = match
  return [{ title: `${dataClass} ${key}`, kind: text('entity'), link: linkTo([dataClass], { entity: key }) }]
}
