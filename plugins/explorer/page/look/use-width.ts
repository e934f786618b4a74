import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

/** Width of an element in pixels, updated when it changes; 0 until it is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)))
    observer.observe(element.current!)
    return () => observer.disconnect()
  }, [])
  return width
}
