import { catalog, type DataClass, isRelation, targetOf } from '../base/catalog.ts'
import { linkTo } from '../base/place.ts'
import { recentPlaces } from '../base/recent.ts'
import { number } from '../base/texts.ts'
import { useCount } from '../components/use-count.ts'
import { isShown, PAGES } from '../shell/rooms.ts'
import { text as shellText } from '../shell/texts.ts'
import { text } from './texts.ts'
import './home.css'

const MAX_RELATIONS = 8
const MAX_ATTRIBUTES = 12

/** Overview of the model for new users, and the recently shown places. */
export function Home() {
  const all = catalog.value?.dataClasses ?? []
  return (
    <div class="overview">
      <header>
        <h1>{text('title')}</h1>
        <p class="hint">{all.length === 0 ? text('noClasses') : text('introduction', { count: all.length })}</p>
        <p class="links">
          {PAGES.filter(isShown).map(({ path, title }) => (
            <a key={path} href={linkTo([path])}>
              {shellText(title)}
            </a>
          ))}
          <a href="../docs/">{shellText('documents')}</a>
        </p>
      </header>
      <Recent />
      <section aria-label={shellText('classes')}>
        <h2>{shellText('classes')}</h2>
        <ul class="cards">
          {all.map(dataClass => (
            <ClassCard key={dataClass.name} dataClass={dataClass} />
          ))}
        </ul>
      </section>
      <p class="hint">{text('shortcuts')}</p>
    </div>
  )
}

function Recent() {
  if (recentPlaces.value.length === 0) return null
  return (
    <section aria-label={text('recentPlaces')}>
      <h2>{text('recentPlaces')}</h2>
      <ul class="recent">
        {recentPlaces.value.map(({ link, title, detail }) => (
          <li key={link}>
            <a href={link}>
              <b>{title}</b> {detail}
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

function ClassCard({ dataClass }: { readonly dataClass: DataClass }) {
  const { name, attributes, extraProperties } = dataClass
  const { ref, count } = useCount<HTMLLIElement>(name)
  const relations = attributes.filter(isRelation).flatMap(attribute => {
    const target = targetOf(attribute)
    return target ? [{ attribute, target }] : []
  })
  const scalars = attributes.filter(attribute => !isRelation(attribute))
  return (
    <li ref={ref}>
      <h3>
        <a href={linkTo([name])}>{name}</a>
        {count !== undefined && <small>{text('entities', { count })}</small>}
      </h3>
      {extraProperties?.label && <p>{extraProperties.label}</p>}
      <p class="attributes">
        {scalars
          .slice(0, MAX_ATTRIBUTES)
          .map(attribute => attribute.name)
          .join(', ')}
        {scalars.length > MAX_ATTRIBUTES && ` + ${number(scalars.length - MAX_ATTRIBUTES)}`}
      </p>
      <p class="relations">
        {relations.slice(0, MAX_RELATIONS).map(({ attribute, target }) => (
          <a key={attribute.name} href={linkTo([target.name])} title={`${name}.${attribute.name}`}>
            {attribute.kind === 'relatedEntity' ? '→' : '⇉'} {target.name}
          </a>
        ))}
        {relations.length > MAX_RELATIONS && <small>+ {number(relations.length - MAX_RELATIONS)}</small>}
      </p>
    </li>
  )
}
