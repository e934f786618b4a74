/**
 * The view that the address of the page names, so that every view can be linked and the browser's arrows work:
 *
 *   #/City?filter=name%3Dparis&order=name&tab=chart
 *
 * After `#`, since none of it is meant for the server.
 */
import { computed, signal } from '@preact/signals'

interface Place {
  /** Parts of the path: `['City']`, `['model']`. */
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

type QueryChanges = Readonly<Record<string, string | undefined>>

const hash = signal(location.hash)
addEventListener('hashchange', () => {
  hash.value = location.hash
})

export const place = computed<Place>(() => placeOf(hash.value))

function placeOf(text: string): Place {
  const [path = '', query = ''] = text.replace(/^#\/?/, '').split(/\?(.*)/s)
  const parts = path.split('/').filter(part => part !== '')
  return { path: parts.map(decode), query: Object.fromEntries(new URLSearchParams(query)) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A place as a link, for `href`. Empty and undefined values are left out. */
export function linkTo(path: readonly string[], query: QueryChanges = {}): string {
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => !!pair[1])
  const search = new URLSearchParams(pairs).toString()
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`
}

/** A link to this place with changes of its query. */
export const linkWith = (changes: QueryChanges): string =>
  linkTo(place.value.path, { ...place.value.query, ...changes })

/** Shows another place. With `replace` it replaces the current one in the browser's history. */
export function go(link: string, { replace = false } = {}): void {
  if (link === location.hash) return
  if (replace) history.replaceState(null, '', link)
  else history.pushState(null, '', link)
  hash.value = location.hash
}

/** Shows this place with changes of its query. */
export const change = (changes: QueryChanges, options?: { replace?: boolean }): void => go(linkWith(changes), options)

addEventListener('popstate', () => {
  hash.value = location.hash
})
