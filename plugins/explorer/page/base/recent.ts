/** Places shown recently in this browser. */
import { computed, effect } from '@preact/signals'
import { dataClasses } from './catalog.ts'
import { linkTo, place } from './place.ts'
import { storedSignalOfUser } from './remembered.ts'

interface RecentPlace {
  readonly link: string
  readonly title: string
  /** The key of the entity, or the filter. */
  readonly detail: string
}

const MAX_PLACES = 12
const MAX_LENGTH = 1_000

const noted = storedSignalOfUser<readonly RecentPlace[]>('recent', [])
/** Recent places, without dataclasses that the user may not see. */
export const recentPlaces = computed(() => noted.value.filter(({ title }) => dataClasses.value.has(title)))

/** Notes every dataclass that is shown, with its filter. A difference in other parts of the address does not make a different place. */
export function noteRecentPlaces(): void {
  effect(() => {
    const { path, query } = place.value
    const [title] = path
    if (path.length !== 1 || title === undefined || title.startsWith('$')) return
    const { filter, entity } = query
    const link = linkTo(path, { filter, entity })
    if (link.length > MAX_LENGTH) return
    const otherPlaces = noted.peek().filter(each => each.link !== link)
    noted.value = [{ link, title, detail: entity ?? filter ?? '' }, ...otherPlaces].slice(0, MAX_PLACES)
  })
}
