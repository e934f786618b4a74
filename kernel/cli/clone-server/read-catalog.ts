import { createHash } from 'node:crypto'
import { stringifyExact } from '../../../engine/base/exact-json.ts'
import { type Source, SourceError } from './source.ts'

/** The parts of a dataclass in `$catalog/$all` that are used. Source: base specification, 2.2 and 2.3. */
export interface SourceClass {
  readonly name: string
  readonly collectionName: string | undefined
  readonly key: string | undefined
  readonly attributes: readonly SourceAttribute[]
  readonly functions: readonly string[]
}

export interface SourceAttribute {
  readonly name: string
  readonly kind: string
  readonly type: string
  readonly [property: string]: unknown
}

export interface SourceCatalog {
  readonly classes: readonly SourceClass[]
  /** Functions of singletons, as `Class.function`. */
  readonly singletons: readonly string[]
}

/** @throws {SourceError} the server cannot be read, or is not a 4D server */
export async function readCatalog(source: Source): Promise<SourceCatalog> {
  const answer = (await source.json('$catalog/$all')) as Json
  const list = answer?.dataClasses ?? answer?.dataClass
  if (!Array.isArray(list) || list.length === 0)
    throw new SourceError(`${source.options.url}/$catalog/$all has no dataclasses; is it the address of a server?`)
  const classes = list.filter(isNamed).map(readClass)
  const singletons = listOf(answer?.singletons)
    .filter(isNamed)
    .flatMap(({ name, methods }) =>
      listOf(methods)
        .filter(isNamed)
        .map(method => `${name}.${method.name}`),
    )
  return { classes, singletons }
}

/** Digest that identifies a catalog. */
export const digestOf = (catalog: SourceCatalog): string =>
  createHash('sha256').update(stringifyExact(catalog)).digest('hex')

/** Error: the model of the source has changed since its clone began. */
export class CatalogChanged extends SourceError {
  constructor(server: string) {
    super(
      `the catalog of ${server} has changed since its clone began; begin again in another folder, or undo the change there and continue with --resume`,
    )
  }
}

type Json = Readonly<Record<string, unknown>> | null | undefined

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const isNamed = (value: unknown): value is { name: string } & Record<string, unknown> =>
  typeof (value as Json)?.name === 'string'
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function readClass(entry: { name: string } & Record<string, unknown>): SourceClass {
  const attributes = listOf(entry.attributes)
    .filter(isNamed)
    .map((each): SourceAttribute => ({ ...each, kind: textOf(each.kind) ?? 'storage', type: textOf(each.type) ?? '' }))
  const [key] = listOf(entry.key).filter(isNamed)
  return {
    name: entry.name,
    collectionName: textOf(entry.collectionName),
    key: key?.name ?? attributes.find(({ identifying }) => identifying === true)?.name,
    attributes,
    functions: listOf(entry.methods)
      .filter(isNamed)
      .map(({ name }) => `${entry.name}.${name}`),
  }
}
