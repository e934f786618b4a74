import type { AttributeModel, DataClassModel } from './model-schema.ts'

/** Attributes by name; `undefined` for one whose shape is wrong, so that references to it are not reported. */
type Attributes = ReadonlyMap<string, AttributeModel | undefined>
export interface CheckedDataClass {
  name: string
  model: DataClassModel
  attributes: Attributes
}
export type DataClasses = ReadonlyMap<string, CheckedDataClass | undefined>
