/** The entity that the user is changing. There is only one, and it is kept while other places are shown. */
import { computed, effect, signal } from '@preact/signals'
import { type Attribute, type DataClass, dataClasses } from '../base/catalog.ts'
import { place } from '../base/place.ts'
import { atLogout } from '../base/remembered.ts'
import { user } from '../base/session.ts'
import { changedInputs, type Form, storedInput } from './changes.ts'
import type { Input } from './editor.ts'
import { readTrail } from './trail.ts'

export interface Draft extends Form {
  /** Chosen images and blobs; null for a removed one. */
  readonly files: ReadonlyMap<string, File | null>
  /** Link to the place of the form. */
  readonly link: string
}

export const draft = signal<Draft | undefined>(undefined)

/** Changes that were unsaved when the session ended: kept for their user as long as the page is open. */
let keptDraft: { readonly userName: string; readonly draft: Draft } | undefined
atLogout(() => {
  const of = draft.value
  if (of && isChanged(of) && user.value) keptDraft = { userName: user.value.userName, draft: of }
  draft.value = undefined
})
effect(() => {
  const name = user.value?.userName
  if (!keptDraft || name !== keptDraft.userName) return
  draft.value = keptDraft.draft
  keptDraft = undefined
})

export const newDraft = (dataClass: DataClass, base: Form['base']): Draft => ({
  dataClass,
  base,
  inputs: new Map(),
  files: new Map(),
  link: location.hash,
})

/** A field of the form. */
export interface FieldProps {
  readonly draft: Draft
  readonly attribute: Attribute
}

/** The content of a field: the typed one, else the stored one. */
export const inputIn = (of: Draft, attribute: Attribute): Input => {
  const input = of.inputs.get(attribute.name)
  return input === undefined ? storedInput(of, attribute) : input
}

export function setInput({ name }: Attribute, input: Input): void {
  const of = draft.value
  if (of) draft.value = { ...of, inputs: new Map(of.inputs).set(name, input) }
}

export const isChanged = (of: Draft): boolean => of.files.size > 0 || changedInputs(of).size > 0

/** The entity that is edited according to the address; its key is undefined for a new one. */
const edited = computed<{ readonly dataClass: DataClass; readonly key: string | undefined } | undefined>(() => {
  const { path, query } = place.value
  if (query.edit === undefined) return undefined
  const last = query.edit === 'new' ? undefined : readTrail(query.trail).at(-1)
  const dataClass = dataClasses.value.get(last?.dataClass ?? path[0] ?? '')
  const key = last?.key ?? query.entity
  return dataClass && { dataClass, key: query.edit === 'new' ? undefined : key }
})

export const isOf = ({ dataClass, base }: Draft, name: string, key: string | undefined): boolean =>
  dataClass.name === name && base?.entity.__KEY === key

/** Changes that would be lost, because their form is not shown. */
export const abandonedDraft = computed<Draft | undefined>(() => {
  const of = draft.value
  if (!of || !isChanged(of)) return undefined
  const editedEntity = edited.value
  return editedEntity && isOf(of, editedEntity.dataClass.name, editedEntity.key) ? undefined : of
})
