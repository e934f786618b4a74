/** Meaning of the values of a column; `json` is an object or an array. */
export type ColumnKind =
  | 'text'
  | 'bool'
  | 'integer'
  | 'long64'
  | 'number'
  | 'decimal'
  | 'date'
  | 'day'
  | 'duration'
  | 'uuid'
  | 'json'
  | 'vector'

export interface ExportColumn {
  /** Path of the attribute: `name`, `employer.name`. */
  readonly name: string
  readonly kind: ColumnKind
  /** Digits after the point of a decimal. */
  readonly scale: number
  readonly dimension: number
  /** True for the key of the exported entities. */
  readonly isKey: boolean
}

/** The parts of an attribute's description in the catalog that are used. */
interface CatalogAttribute {
  readonly name: string
  readonly kind: string
  readonly type: string
  readonly path?: string
  readonly scale?: number
  readonly simpleDate?: boolean
  readonly dimension?: number
}

interface CatalogClass {
  readonly name: string
  readonly attributes: readonly CatalogAttribute[]
  readonly key: readonly { readonly name: string }[]
}

/** Dataclasses of `$catalog/$all` by name. */
export type ServerCatalog = ReadonlyMap<string, CatalogClass>

export const readCatalog = (answer: unknown): ServerCatalog =>
  new Map((answer as { dataClasses: CatalogClass[] }).dataClasses.map(each => [each.name, each]))

const isBinary = ({ type }: CatalogAttribute): boolean => type === 'image' || type === 'blob'

/** Images and blobs of a dataclass, such as `photo (image)`. */
export const binaryAttributes = (catalog: ServerCatalog, dataClass: string): string[] =>
  (catalog.get(dataClass)?.attributes ?? []).filter(isBinary).map(({ name, type }) => `${name} (${type})`)

/**
 * Column for the path of an attribute.
 * @throws {Error} its values are images or blobs
 */
export function columnOf(catalog: ServerCatalog, dataClass: string, name: string): ExportColumn {
  const attribute = attributeAt(catalog, dataClass, name.split('.'))
  const isKey = catalog.get(dataClass)?.key.some(key => key.name === name) ?? false
  if (attribute === 'many' || !attribute)
    return { name, kind: attribute ? 'json' : 'text', scale: 0, dimension: 0, isKey }
  if (isBinary(attribute))
    throw new Error(
      `"${name}" is of type ${attribute.type}; an export does not contain its bytes, but tesser dump does`,
    )
  const { scale = 0, dimension = 0 } = attribute
  return { name, kind: kindOf(attribute), scale, dimension, isKey }
}

/** Attribute at the end of a path; `many` if its values are arrays, undefined if the catalog does not say. */
function attributeAt(
  catalog: ServerCatalog,
  dataClass: string,
  [name, ...rest]: readonly string[],
): CatalogAttribute | 'many' | undefined {
  const attribute = catalog.get(dataClass)?.attributes.find(each => each.name === name)
  if (!attribute) return undefined
  if (attribute.kind === 'relatedEntities') return 'many'
  if (attribute.kind === 'relatedEntity')
    return rest.length > 0 ? attributeAt(catalog, attribute.type, rest) : undefined
  if (rest.length > 0) return undefined
  if (attribute.kind === 'alias')
    return attribute.path === undefined ? undefined : attributeAt(catalog, dataClass, attribute.path.split('.'))
  return attribute
}

const KINDS: Readonly<Record<string, ColumnKind>> = {
  bool: 'bool',
  byte: 'integer',
  word: 'integer',
  long: 'integer',
  long64: 'long64',
  number: 'number',
  float: 'number',
  duration: 'duration',
  uuid: 'uuid',
  object: 'json',
}

function kindOf({ type, scale, simpleDate, dimension }: CatalogAttribute): ColumnKind {
  if (scale !== undefined) return 'decimal'
  if (dimension !== undefined) return 'vector'
  if (type === 'date') return simpleDate ? 'day' : 'date'
  return KINDS[type] ?? 'text'
}
