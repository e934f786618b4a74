import { type DraftModel, typeOf } from '../draft-model.ts'

/** Attributes of a dataclass that are copied. */
export interface ClassPlan {
  readonly name: string
  readonly key: string
  /** True if the source shows the key only as `__KEY`. */
  readonly isKeyHidden: boolean
  /** Attributes whose values are in the entities. */
  readonly values: readonly string[]
  /** Images and blobs. */
  readonly binaries: readonly string[]
  /** Foreign keys that the source does not show, with the relations that provide their values. */
  readonly links: readonly { readonly relation: string; readonly attribute: string }[]
  /** Attribute with the stamp of the source, until the copy is complete. */
  readonly stamp: string
}

export interface ClonePlan {
  readonly model: DraftModel
  readonly classes: readonly ClassPlan[]
}

/** Model during the copy: values only. Relations, indexes and limits are added after all entities. */
export function copyModel({ model, classes }: ClonePlan): DraftModel {
  return {
    name: model.name,
    dataClasses: Object.fromEntries(
      classes.map(({ name, key, stamp }) => {
        const attributes = Object.entries(model.dataClasses[name]!.attributes).filter(
          ([, { kind }]) => kind === undefined,
        )
        const values = attributes.map(([each, attribute]) => [each, typeOf(attribute, 'autoFill')])
        return [name, { key, attributes: { ...Object.fromEntries(values), [stamp]: { type: 'long64' } } }]
      }),
    ),
  }
}
