/** Filters that were saved or applied recently. */
import { targetOf } from '../base/catalog.ts'
import { partsOf } from '../base/filter-tokens.ts'
import { linkTo } from '../base/place.ts'
import { selection } from '../base/selection.ts'
import { complain, notify } from '../base/work.ts'
import { copyText } from '../components/copy-text.ts'
import { isKnown } from './complete.ts'
import { currentFilter, recent } from './draft.ts'
import { NameForm } from './name-form.tsx'
import { RemoveButton } from './remove-button.tsx'
import { forget, inOneText, save, savedFilters } from './saved.ts'
import { text } from './texts.ts'

export function SavedPanel() {
  const { dataClass } = selection.value!
  const { name } = dataClass
  const { conditions, order } = partsOf(currentFilter.value)
  const mayBeSeen = (filter: string): boolean => isKnown(filter, dataClass, targetOf)
  const mine = (savedFilters.value[name] ?? []).filter(each => mayBeSeen(inOneText(each)))
  const last = (recent.value[name] ?? []).filter(each => each !== currentFilter.value && mayBeSeen(each))
  return (
    <section class="panel" aria-label={text('saved')}>
      {currentFilter.value !== '' && (
        <NameForm
          label={text('saveAs')}
          button={text('save')}
          onName={each => save(name, { name: each, filter: conditions, order })}
        />
      )}
      {mine.length === 0 && last.length === 0 && <p class="hint">{text('noneSaved')}</p>}
      {mine.length > 0 && (
        <ul aria-label={text('saved')}>
          {mine.map(each => {
            const link = linkTo([name], { filter: each.filter, order: each.order })
            return (
              <li key={each.name}>
                <a href={link}>{each.name}</a>
                <code>{inOneText(each)}</code>
                <button type="button" class="quiet" onClick={() => copy(new URL(link, location.href).href)}>
                  {text('copyLink')}
                </button>
                <RemoveButton name={each.name} onClick={() => forget(name, each.name)} />
              </li>
            )
          })}
        </ul>
      )}
      {last.length > 0 && (
        <>
          <h2>{text('recent')}</h2>
          <ul aria-label={text('recent')}>
            {last.map(each => {
              const { conditions, order } = partsOf(each)
              return (
                <li key={each}>
                  <a href={linkTo([name], { filter: conditions, order })}>
                    <code>{each}</code>
                  </a>
                </li>
              )
            })}
          </ul>
        </>
      )}
    </section>
  )
}

function copy(link: string): void {
  copyText(link).then(() => notify(text('copied')), complain)
}
