import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { catalog, type DataClass } from '../base/catalog.ts'
import { linkTo, place } from '../base/place.ts'
import { number } from '../base/texts.ts'
import { useCount } from '../components/use-count.ts'
import { isShown, PAGES } from './rooms.ts'
import { text } from './texts.ts'

/** All dataclasses that the user may see, with the number of their entities. */
export function ClassList() {
  const searchText = useSignal('')
  const all = catalog.value?.dataClasses ?? []
  const matches = all.filter(({ name }) => name.toLowerCase().includes(searchText.value.toLowerCase()))
  return (
    <nav class="classes" aria-label={text('classes')}>
      {all.length > 12 && (
        <input
          type="search"
          aria-label={text('findClass')}
          placeholder={text('findClass')}
          value={searchText}
          onInput={({ currentTarget }) => {
            searchText.value = currentTarget.value
          }}
        />
      )}
      <ul>
        {matches.map(dataClass => (
          <ClassItem key={dataClass.name} dataClass={dataClass} />
        ))}
      </ul>
      <ul>
        {PAGES.filter(isShown).map(({ path, title }) => (
          <li key={path}>
            <a href={linkTo([path])} aria-current={place.value.path[0] === path ? 'page' : undefined}>
              {text(title)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function ClassItem({ dataClass: { name } }: { readonly dataClass: DataClass }) {
  const { ref, count } = useCount<HTMLLIElement>(name)
  const isCurrent = place.value.path[0] === name
  useEffect(() => {
    if (isCurrent) ref.current!.scrollIntoView({ block: 'nearest' })
  }, [isCurrent])
  return (
    <li ref={ref}>
      <a href={linkTo([name])} aria-current={isCurrent ? 'page' : undefined}>
        <span>{name}</span>
        {count !== undefined && <small>{number(count)}</small>}
      </a>
    </li>
  )
}
