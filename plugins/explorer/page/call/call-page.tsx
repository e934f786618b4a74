import { catalog } from '../base/catalog.ts'
import { CallPanel } from './call-panel.tsx'
import { text } from './texts.ts'

/** Functions of the datastore and of singletons. */
export function CallPage() {
  const { methods = [], singletons = [] } = catalog.value!
  const callables = [
    ...methods.map(each => ({ ...each, owner: 'ds' })),
    ...singletons.flatMap(({ name, methods = [] }) =>
      methods.map(each => ({ ...each, applyTo: 'singleton' as const, owner: name })),
    ),
  ]
  return (
    <>
      <header class="title">
        <h1>{text('functions')}</h1>
      </header>
      <CallPanel callables={callables} targetOf={() => ''} />
    </>
  )
}
