import { type Static, Type } from '@sinclair/typebox'
import type { Attribute } from '../../../engine/index.ts'
import { entityPath, jsonOf } from '../ask.ts'
import { PAGE, SELECTION, showEntities, valuesOf } from '../entities.ts'
import { defineTool, type ToolContext } from '../tool.ts'
import { refusal } from '../tool-error.ts'

const INPUT = Type.Object(
  {
    ...SELECTION,
    text: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000 })),
    by: Type.Optional(
      Type.Unsafe<'words' | 'meaning'>({
        type: 'string',
        enum: ['words', 'meaning'],
        description: 'of the text: all words in one attribute (default), or its meaning',
      }),
    ),
    similarTo: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1_000, description: 'key of an entity, instead of text' }),
    ),
    vector: Type.Optional(Type.Array(Type.Number(), { maxItems: 16_384, description: 'instead of text' })),
    in: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
        minItems: 1,
        maxItems: 50,
        description: 'attributes to search; by default all that fit',
      }),
    ),
    ...PAGE,
  },
  { additionalProperties: false },
)

type Search = Static<typeof INPUT>

export const search = defineTool({
  name: 'search',
  takesParameters: true,
  title: 'Search',
  description:
    'Finds entities that contain a text, by its words or by its meaning, or that are near a vector or similar to another entity, the nearest first with __SCORE. A filter narrows the search.',
  input: INPUT,
  async run(input, context) {
    const { filter, params = [], ...others } = input
    const { searched, operator, operand, isScored, hintForNone } = await conditionOf(input, context)
    const placeholder = `:${params.length + 1}`
    const condition = searched.map(each => `${each} ${operator} ${placeholder}`).join(' or ')
    const attributes = input.attributes ?? valuesOf(input.class, context.request)
    return showEntities(
      {
        ...others,
        hintForNone,
        filter: filter ? `(${condition}) and (${filter})` : condition,
        params: [...params, operand],
        attributes: isScored ? ['__SCORE', ...attributes] : attributes,
      },
      context,
    )
  },
})

interface Condition {
  /** Attributes, one of which must meet the condition. */
  readonly searched: readonly string[]
  readonly operator: '%' | '=' | '>'
  readonly operand: unknown
  readonly isScored: boolean
  readonly hintForNone?: string | undefined
}

async function conditionOf(input: Search, context: ToolContext): Promise<Condition> {
  const { text, by = 'words', similarTo, vector } = input
  const conditions = [text, similarTo, vector].filter(each => each !== undefined)
  if (conditions.length !== 1) throw refusal(`give one of text, similarTo and vector; received ${conditions.length}`)
  const kind = text === undefined ? 'vector' : by
  const searchedNames = input.in ?? attributesFor(kind, input.class, context)
  if (kind === 'words') {
    const hintForNone = namesFor('meaning', input.class, context).length > 0 ? 'try by: meaning' : undefined
    return { searched: searchedNames, operator: '%', operand: text, isScored: false, hintForNone }
  }
  if (searchedNames.length > 1) throw refusal(`name one attribute in "in"; received ${searchedNames.length}`)
  if (kind === 'meaning') return { searched: searchedNames, operator: '=', operand: text, isScored: true }
  const near = vector ?? (await vectorOf(similarTo!, input.class, searchedNames[0]!, context))
  // Without a threshold every entity with a vector is selected, ordered by similarity.
  return { searched: searchedNames, operator: '>', operand: { vector: near, threshold: null }, isScored: true }
}

async function vectorOf(key: string, dataClass: string, attribute: string, { ask }: ToolContext): Promise<unknown> {
  const answer = await ask({ path: entityPath(dataClass, key), parameters: { attributes: attribute } })
  const vector = (jsonOf(answer) as Record<string, unknown>)[attribute]
  if (Array.isArray(vector)) return vector
  throw refusal(`${attribute} of ${dataClass} ${key} is not a vector`)
}

type Kind = 'words' | 'meaning' | 'vector'

/** Attributes that are searched if none is named. @throws {ToolError} the dataclass has none */
function attributesFor(kind: Kind, dataClass: string, context: ToolContext): string[] {
  // For an unknown dataclass any attribute name will do: the protocol answers with the error.
  if (!context.request.view.find(dataClass)) return ['ID']
  const names = namesFor(kind, dataClass, context)
  if (names.length === 0) throw refusal(`${dataClass} has nothing to be searched by ${kind}`)
  return kind === 'words' ? names : names.slice(0, 1)
}

/** Attributes that can be searched in this way, according to the catalog; by meaning: calculated texts of a class with a vector. */
function namesFor(kind: Kind, dataClass: string, { request: { view } }: ToolContext): string[] {
  const classInView = view.find(dataClass)
  const attributes = classInView ? view.attributes(classInView) : []
  const isOf = (attribute: Attribute, type: string): boolean => 'type' in attribute && attribute.type === type
  const hasVector = attributes.some(each => isOf(each, 'vector'))
  const fits: Record<Kind, (attribute: Attribute) => boolean> = {
    words: each => each.kind === 'storage' && isOf(each, 'string'),
    meaning: each => hasVector && each.kind === 'calculated' && isOf(each, 'string'),
    vector: each => isOf(each, 'vector'),
  }
  return attributes.filter(fits[kind]).map(({ name }) => name)
}
