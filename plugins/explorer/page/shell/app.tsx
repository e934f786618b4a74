import { useSignalEffect } from '@preact/signals'
import { catalog, dataClasses } from '../base/catalog.ts'
import { place } from '../base/place.ts'
import { isOffline } from '../base/rest.ts'
import { selection } from '../base/selection.ts'
import { language } from '../base/texts.ts'
import { ClassList } from './class-list.tsx'
import { ClassView } from './class-view.tsx'
import { Header } from './header.tsx'
import { lazy } from './lazy.tsx'
import { Notices } from './notices.tsx'
import { PAGES } from './rooms.ts'
import { Shortcuts } from './shortcuts.tsx'
import { text } from './texts.ts'

const Home = lazy(async () => (await import('../home/home.tsx')).Home)

/** Header, list of dataclasses, and the view that the address names. */
export function App() {
  useSignalEffect(() => {
    document.documentElement.lang = language.value
    const [first = ''] = place.value.path
    // A name in an address is shown only if the visitor may see it.
    document.title = [...(pageAt(first) || dataClasses.value.has(first) ? [first] : []), 'Tesser'].join(' · ')
  })
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        {text('skip')}
      </button>
      <Header />
      <div class="body">
        <ClassList />
        <main id="content" tabIndex={-1}>
          {isOffline.value && (
            <p class="offline" role="status">
              {text('offline')}
            </p>
          )}
          <View />
        </main>
      </div>
      <Notices />
      <Shortcuts />
    </>
  )
}

/** Focuses the content; a link to `#content` would be treated as a place. */
const skip = (): void => document.getElementById('content')?.focus()

const pageAt = (name: string) => PAGES.find(({ path }) => path === name)

function View() {
  if (!catalog.value) return <p role="status">{text('loading')}</p>
  const [first] = place.value.path
  if (first === undefined) return <Home />
  const page = pageAt(first)
  if (page) return <page.View />
  const dataClass = dataClasses.value.get(first)
  if (!dataClass) return <p class="hint">{text('unknown')}</p>
  return selection.value ? <ClassView key={first} /> : <p role="status">{text('loading')}</p>
}
