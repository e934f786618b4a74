import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { complain } from '../base/work.ts'
import { text } from './texts.ts'

/** A component whose code is loaded when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loadedComponent: ComponentType<Props> | undefined
  return function Lazy(props: Props) {
    const [, setLoaded] = useState(loadedComponent !== undefined)
    useEffect(() => {
      if (loadedComponent) return
      load().then(component => {
        loadedComponent = component
        setLoaded(true)
      }, complain)
    }, [])
    const Component = loadedComponent
    return Component ? <Component {...props} /> : <p role="status">{text('loading')}</p>
  }
}
