import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type Attribute, attributeOf, type DataClass } from '../base/catalog.ts'
import { change } from '../base/place.ts'
import { type ProtocolFault, RestError } from '../base/rest.ts'
import { Fault } from '../components/fault.tsx'
import { Conflict } from './conflict.tsx'
import { abandonedDraft, draft, isChanged, isOf, newDraft } from './draft.ts'
import { editable, editorOf } from './editor.ts'
import { Field } from './field.tsx'
import { labelText, loadEntity, type LoadedEntity } from './load-entity.ts'
import { problemsOf } from './problems.ts'
import { isStale, saveDraft } from './save.ts'
import { text } from './texts.ts'

interface FormProps {
  readonly dataClass: DataClass
  /** Undefined for a new entity. */
  readonly original: LoadedEntity | undefined
}

/** Fields of an entity. Typed contents stay in the draft until they are saved or discarded. */
export function EntityForm({ dataClass, original }: FormProps) {
  const entity = original?.entity
  const error = useSignal<unknown>(undefined)
  const theirs = useSignal<LoadedEntity | undefined>(undefined)
  const isSaving = useSignal(false)
  const wasSent = useSignal(false)
  const form = useRef<HTMLFormElement>(null)
  const currentDraft = draft.value
  const isFresh =
    currentDraft && (isChanged(currentDraft) || (currentDraft.base?.entity.__STAMP ?? 0) >= (entity?.__STAMP ?? 0))
  const ownDraft = isFresh && isOf(currentDraft, dataClass.name, entity?.__KEY) ? currentDraft : undefined
  // Changes of another entity are kept until the user has decided about them.
  const isFree = abandonedDraft.value === undefined
  useEffect(() => {
    if (!ownDraft && isFree) draft.value = newDraft(dataClass, original)
  }, [ownDraft, isFree])
  useEffect(() => form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus(), [])
  if (!ownDraft) return null

  const problems = problemsOf(ownDraft, wasSent.value)
  const { messages, otherError } = byField(dataClass, error.value)
  // After a conflict, the draft is based on values that others have saved.
  const large = ownDraft.base?.large ?? new Set()
  const attributes = editable(dataClass, !entity).filter(({ name }) => !large.has(name))

  const title = entity ? labelText(dataClass, entity, entity.__KEY) : text('newOf', { name: dataClass.name })
  const save = async (): Promise<void> => {
    if (entity && !isChanged(ownDraft)) return
    wasSent.value = true
    error.value = undefined
    if (problemsOf(ownDraft, true).size > 0) return
    isSaving.value = true
    try {
      const key = await saveDraft(ownDraft)
      if (key === undefined) return
      draft.value = undefined
      change(entity ? { edit: undefined } : { edit: undefined, entity: key, trail: undefined })
    } catch (fault) {
      error.value = fault
      if (entity && isStale(fault)) await loadTheirs(entity.__KEY)
    } finally {
      isSaving.value = false
    }
  }
  const loadTheirs = (key: string): Promise<void> =>
    loadEntity(dataClass, key).then(
      now => {
        theirs.value = now
      },
      (fault: unknown) => {
        error.value = fault
      },
    )

  if (theirs.value && entity) {
    return (
      <Conflict
        draft={ownDraft}
        theirs={theirs.value}
        onClose={() => {
          theirs.value = undefined
        }}
      />
    )
  }
  return (
    <form
      ref={form}
      class="fields"
      noValidate
      aria-label={title}
      onSubmit={event => {
        event.preventDefault()
        void save()
      }}
      onKeyDown={event => {
        if (!(event.ctrlKey || event.metaKey) || (event.key !== 'Enter' && event.key !== 's')) return
        event.preventDefault()
        void save()
      }}
    >
      <h2>{title}</h2>
      {attributes.map(attribute => (
        <Field
          key={attribute.name}
          draft={ownDraft}
          attribute={attribute}
          editor={editorOf(attribute, !entity)!}
          problems={[problems.get(attribute.name) ?? [], messages.get(attribute.name) ?? []].flat()}
        />
      ))}
      {large.size > 0 && <p class="hint">{text('largeLeftOut', { names: [...large].join(', ') })}</p>}
      {otherError !== undefined && <Fault error={otherError} />}
      <div class="foot">
        <button type="submit" class="main" disabled={isSaving.value || (entity !== undefined && !isChanged(ownDraft))}>
          {text(isSaving.value ? 'saving' : 'save')}
        </button>
        <button type="button" onClick={() => change({ edit: undefined })}>
          {text('cancel')}
        </button>
      </div>
    </form>
  )
}

interface Faults {
  readonly messages: ReadonlyMap<string, readonly string[]>
  /** The error with the faults that belong to no field. */
  readonly otherError: unknown
}

/** The server's messages, by the fields to which they belong. */
function byField(dataClass: DataClass, error: unknown): Faults {
  const messages = new Map<string, string[]>()
  if (!(error instanceof RestError)) return { messages, otherError: error }
  const otherFaults: ProtocolFault[] = []
  for (const fault of error.faults) {
    const name = fault.attribute === undefined ? undefined : fieldOf(dataClass, fault.attribute)
    if (name === undefined) otherFaults.push(fault)
    else messages.set(name, [...(messages.get(name) ?? []), fault.message])
  }
  return { messages, otherError: new RestError(error.status, otherFaults, error.answer) }
}

/** The field in which an attribute is changed; for a foreign key its relation. */
function fieldOf(dataClass: DataClass, name: string): string | undefined {
  const isField = (attribute: Attribute | undefined): boolean => !!attribute && editorOf(attribute, true) !== undefined
  const relation = dataClass.attributes.find(({ foreignKey }) => foreignKey === name)
  return relation?.name ?? (isField(attributeOf(dataClass, name)) ? name : undefined)
}
