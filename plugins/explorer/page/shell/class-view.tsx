import { linkWith, place } from '../base/place.ts'
import { selection } from '../base/selection.ts'
import { ABOVE_TABS, BESIDE_TAB, IN_TITLE, isShown, TABS } from './rooms.ts'
import { text } from './texts.ts'

/** Views of one dataclass, or of an entity set of it: the filter, the tabs, and the entity that the address names. */
export function ClassView() {
  const { dataClass } = selection.value!
  const tabs = TABS.filter(isShown)
  const tab = tabs.find(({ path }) => path === place.value.query.tab) ?? TABS[0]!
  return (
    <>
      <header class="title">
        <h1>{dataClass.name}</h1>
        {dataClass.extraProperties?.label && <p>{dataClass.extraProperties.label}</p>}
        <div class="actions">
          {IN_TITLE.map((Part, index) => (
            <Part key={index} />
          ))}
        </div>
      </header>
      {ABOVE_TABS.map((Part, index) => (
        <Part key={index} />
      ))}
      {tabs.length > 1 && (
        <nav class="tabs" aria-label={text('views')}>
          {tabs.map(({ path, title }) => (
            <a
              key={path}
              href={linkWith({ tab: path === TABS[0]!.path ? undefined : path })}
              aria-current={path === tab.path ? 'page' : undefined}
            >
              {text(title)}
            </a>
          ))}
        </nav>
      )}
      <div class="views">
        <div class="view">
          <tab.View />
        </div>
        {(place.value.query.entity ?? place.value.query.edit) !== undefined &&
          BESIDE_TAB.map((Part, index) => <Part key={index} />)}
      </div>
    </>
  )
}
