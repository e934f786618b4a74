import { useEffect, useRef } from 'preact/hooks'
import { catalog } from '../base/catalog.ts'
import { counts, unwantCount, wantCount } from '../base/counts.ts'

/** The number of entities of a dataclass, counted while the element with `ref` is in view, and again after a login. */
export function useCount<Shown extends Element>(dataClass: string) {
  const ref = useRef<Shown>(null)
  useEffect(() => {
    let isWanted = false
    const set = (inView: boolean): void => {
      if (inView !== isWanted) (inView ? wantCount : unwantCount)(dataClass)
      isWanted = inView
    }
    const observer = new IntersectionObserver(changes => set(changes.at(-1)!.isIntersecting))
    observer.observe(ref.current!)
    return () => {
      observer.disconnect()
      set(false)
    }
  }, [dataClass, catalog.value])
  return { ref, count: counts.value.get(dataClass) }
}
