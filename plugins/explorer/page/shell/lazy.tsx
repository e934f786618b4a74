import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { complain } from '../base/work.ts'
import { text } from './texts.ts'

/** A component whose code is loaded when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Lazy(props: Props) {
    const [, setLoaded] = useState(loaded !== undefined)
    useEffect(() => {
      if (loaded) return
      load().then(component => {
        loaded = component
        setLoaded(true)
      }, complain)
    }, [])
    const Component = loaded
    return Component ? <Component {...props} /> : <p role="status">{text('loading')}</p>
  }
}
