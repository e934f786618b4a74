import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type Attribute, type DataClass, dataClasses } from '../base/catalog.ts'
import { format } from '../base/format.ts'
import { opener } from '../base/opener.ts'
import { linkTo, linkWith, place } from '../base/place.ts'
import { selection } from '../base/selection.ts'
import { lastWrite } from '../base/writes.ts'
import { CloseButton } from '../components/dialog.tsx'
import { Fault } from '../components/fault.tsx'
import { useAnswer } from '../components/use-answer.ts'
import { SimilarLinks } from '../find/similar-links.tsx'
import { close } from './close.ts'
import { Collections } from './collections.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { EntityForm } from './form.tsx'
import { knownLabel, rememberLabel } from './known-labels.ts'
import { isCollection, labelText, type LoadedEntity, loadEntity } from './load-entity.ts'
import { text } from './texts.ts'
import { readTrail, type Step, writeTrail } from './trail.ts'
import { Value } from './value.tsx'
import './unsaved.tsx'
import './entity.css'

const TIMESTAMP: Attribute = { name: '__TIMESTAMP', kind: 'storage', type: 'date' }

/** The entity that the address names, or one that was reached from it over relations. */
export function EntityPanel() {
  const currentSelection = selection.value
  const { entity: key, trail, edit } = place.value.query
  const panel = useRef<HTMLElement>(null)
  useEffect(() => void (opener.value && panel.current?.focus()), [opener.value, key])
  useEffect(() => () => giveFocusBack(panel.current), [])
  if (!currentSelection) return null
  if (edit === 'new') {
    return (
      <aside class="entity" aria-label={text('entity')}>
        <EntityForm
          key={`new ${currentSelection.dataClass.name}`}
          dataClass={currentSelection.dataClass}
          original={undefined}
        />
      </aside>
    )
  }
  if (key === undefined) return null
  const steps: readonly Step[] = [{ dataClass: currentSelection.dataClass.name, key }, ...readTrail(trail)]
  const step = steps.at(-1)!
  const dataClass = dataClasses.value.get(step.dataClass)
  return (
    <aside
      ref={panel}
      tabIndex={-1}
      class="entity"
      aria-label={text('entity')}
      onKeyDown={({ key }) => key === 'Escape' && edit === undefined && close()}
    >
      <Trail steps={steps} />
      {dataClass ? (
        <ShownEntity key={`${step.dataClass}/${step.key}`} dataClass={dataClass} entityKey={step.key} />
      ) : (
        <p class="hint">{text('unknownClass')}</p>
      )}
    </aside>
  )
}

function giveFocusBack(panel: HTMLElement | null): void {
  const { activeElement } = document
  if (activeElement === document.body || panel?.contains(activeElement)) opener.value?.focus()
  opener.value = undefined
}

function Trail({ steps }: { readonly steps: readonly Step[] }) {
  return (
    <header>
      <nav aria-label={text('trail')}>
        <ol>
          {steps.map((step, at) => (
            <li key={at}>
              <a
                href={linkWith({ trail: writeTrail(steps.slice(1, at + 1)) || undefined, edit: undefined })}
                aria-current={at === steps.length - 1 ? 'page' : undefined}
              >
                <small>{dataClasses.value.get(step.dataClass)?.name ?? '…'}</small> {knownLabel(step)}
              </a>
            </li>
          ))}
        </ol>
      </nav>
      <CloseButton onClick={close} />
    </header>
  )
}

interface EntityProps {
  readonly dataClass: DataClass
  readonly entityKey: string
}

function ShownEntity({ dataClass, entityKey }: EntityProps) {
  const write = lastWrite.value
  const { result, error, again } = useAnswer(
    async signal => ({ loaded: await loadEntity(dataClass, entityKey, signal), write }),
    [dataClass, entityKey, write],
  )
  const isForm = useRef(false)
  useEffect(() => {
    if (!result) return
    const { entity } = result.loaded
    rememberLabel({ dataClass: dataClass.name, key: entityKey }, labelText(dataClass, entity, entityKey))
  }, [result])
  if (error !== undefined) return <Fault error={error} again={again} />
  const isEdited = place.value.query.edit !== undefined
  // A form with values from before the last write would conflict with that write.
  if (!result || (isEdited && !isForm.current && result.write !== write)) return <p role="status">{text('loading')}</p>
  isForm.current = isEdited
  if (isEdited) return <EntityForm dataClass={dataClass} original={result.loaded} />
  return <EntityView dataClass={dataClass} entityKey={entityKey} original={result.loaded} />
}

function EntityView({ dataClass, entityKey, original }: EntityProps & { readonly original: LoadedEntity }) {
  const { entity, large } = original
  const isDeleting = useSignal(false)
  const label = labelText(dataClass, entity, entityKey)
  const attributes = dataClass.attributes.filter(each => !isCollection(each))
  return (
    <>
      <div class="heading">
        <h2>{label}</h2>
        <span class="row">
          <SimilarLinks dataClass={dataClass} entityKey={entityKey} entity={entity} />
          <a class="button" href={linkWith({ edit: '1' })}>
            {text('edit')}
          </a>
          <button
            type="button"
            onClick={() => {
              isDeleting.value = true
            }}
          >
            {text('delete')}
          </button>
        </span>
      </div>
      {isDeleting.value && (
        <DeleteDialog
          dataClass={dataClass}
          entity={entity}
          label={label}
          onClose={() => {
            isDeleting.value = false
          }}
        />
      )}
      <dl>
        {attributes.map(attribute => (
          <div key={attribute.name}>
            <dt>{attribute.name}</dt>
            <dd>
              <Value
                dataClass={dataClass}
                entityKey={entityKey}
                attribute={attribute}
                value={entity[attribute.name]}
                isLarge={large.has(attribute.name)}
              />
            </dd>
          </div>
        ))}
      </dl>
      <Collections dataClass={dataClass} entityKey={entityKey} />
      <footer>
        <span>{text('stamp', { stamp: entity.__STAMP })}</span>
        {entity.__TIMESTAMP && <time dateTime={entity.__TIMESTAMP}>{format(entity.__TIMESTAMP, TIMESTAMP)}</time>}
        {place.value.query.trail !== undefined && (
          <a href={linkTo([dataClass.name], { entity: entityKey })}>{text('openIn', { name: dataClass.name })}</a>
        )}
      </footer>
    </>
  )
}
