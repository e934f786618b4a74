import { Type } from '@sinclair/typebox'
import { suggestion } from '../../../engine/index.ts'
import { boundedAnswer, type ToolResult } from '../answer.ts'
import { type Answer, entityPath, isJson, jsonOf, nameIn } from '../ask.ts'
import { pageOf, selectionOf, SHOWN } from '../entities.ts'
import { cutHints, hintOf } from '../hints.ts'
import { simplify } from '../plain.ts'
import { defineTool, type ToolContext } from '../tool.ts'
import { refusal, ToolError } from '../tool-error.ts'

const LOGIN = 'authentify'
const FAILED = 500

export const call = defineTool({
  name: 'call',
  title: 'Call a function',
  description:
    'Calls a function of the data model: of an entity (class and key), of a selection or a dataclass (class, with filter), of a singleton, or of the datastore (only the name).',
  input: Type.Object(
    {
      function: Type.String({ minLength: 1, maxLength: 200 }),
      class: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      key: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
      filter: Type.Optional(Type.String({ minLength: 1, maxLength: 20_000, description: 'of the selection' })),
      singleton: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      arguments: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 100, description: 'in order' })),
      ...SHOWN,
    },
    { additionalProperties: false },
  ),
  writes: true,
  async run(input, context) {
    const { ask, mayWrite } = context
    const { filter, arguments: argumentList = [] } = input
    const path = pathOf(input)
    const parameters = { ...selectionOf({ filter }), ...pageOf(input) }
    const promise = mayWrite
      ? ask({ path, parameters, body: argumentList })
      : ask({ path, parameters: { ...parameters, params: JSON.stringify(argumentList) } })
    const answer = await promise.catch((error: unknown) => withReason(error, input, context))
    return resultOf(answer, context)
  },
})

/** Error codes when the protocol has read a name as an attribute, or as a dataclass. */
const NO_ATTRIBUTE = 1500
const NO_DATACLASS = 1800

/** @throws {ToolError} the error, in terms of the tool */
async function withReason(
  error: unknown,
  { function: name, class: dataClass, ...target }: Target,
  { ask }: ToolContext,
): Promise<never> {
  if (!(error instanceof ToolError)) throw error
  if (error.status === 405)
    throw refusal('the function does not allow GET, so it may change something, and writing is off here (mcp.write)')
  // The code of a function throws the same errors, about other names.
  const isUnread = (code: number): boolean =>
    error.faults.some(({ errCode, message }) => errCode === code && message.includes(JSON.stringify(name)))
  if (dataClass !== undefined && isUnread(NO_ATTRIBUTE)) {
    const { methods = [] } = jsonOf(await ask({ path: `$catalog/${nameIn(dataClass)}` })) as Described
    const hint =
      suggestion(
        name,
        methods.map(each => each.name),
      ) || '; describe with class lists them'
    throw new ToolError([{ message: `${dataClass} has no function ${JSON.stringify(name)}${hint}` }], error.status)
  }
  if (dataClass === undefined && target.singleton === undefined && isUnread(NO_DATACLASS))
    throw new ToolError(
      [{ message: `the datastore has no function ${JSON.stringify(name)}; those of a dataclass take class` }],
      error.status,
    )
  throw error
}

interface Described {
  readonly methods?: readonly { readonly name: string }[]
}

const LINES = /^application\/x-ndjson\b/

/** Values of a stream. @throws {ToolError} the stream has failed */
function valuesOf(answer: Answer): unknown[] {
  const lines = Buffer.from(answer.bytes).toString().split('\n').slice(0, -1)
  const values = lines.map(line => jsonOf({ ...answer, bytes: Buffer.from(line) }))
  const { __ERROR: faults } = (values.at(-1) ?? {}) as { __ERROR?: ToolError['faults'] }
  if (faults) throw new ToolError(faults, FAILED)
  return values
}

function resultOf(answer: Answer, { mayWrite: withStamps, request: { view } }: ToolContext): ToolResult {
  const { mediaType, bytes } = answer
  if (LINES.test(mediaType)) return boundedAnswer(valuesOf(answer).map(value => simplify(value, withStamps)))
  if (!isJson(mediaType)) {
    const text = Buffer.from(bytes).toString()
    return boundedAnswer(/^text\//.test(mediaType) ? text : `(${bytes.length} bytes of ${mediaType})`)
  }
  const value = jsonOf(answer)
  if (typeof value !== 'object' || value === null) return boundedAnswer(value)
  const { __entityModel: name, __ENTITIES: entities = [value], __COUNT: count, result } = value as Result
  const dataClass = name === undefined ? undefined : view.find(name)
  // Any other value is in `result`, unchanged.
  if (!dataClass) return boundedAnswer(simplify('result' in value ? result : value, withStamps))
  return boundedAnswer(simplify(value, withStamps), { count, hint: hintOf(cutHints(entities, dataClass, view)) })
}

interface Result {
  readonly __entityModel?: string
  readonly __COUNT?: number
  readonly __ENTITIES?: readonly object[]
  readonly result?: unknown
}

interface Target {
  readonly function: string
  readonly class?: string | undefined
  readonly key?: string | undefined
  readonly filter?: string | undefined
  readonly singleton?: string | undefined
}

function pathOf({ function: name, class: dataClass, key, filter, singleton }: Target): string {
  const part = nameIn(name)
  if (singleton !== undefined) {
    if (dataClass ?? key ?? filter) throw refusal('a singleton has neither class, key nor filter')
    return `$singleton/${nameIn(singleton)}/${part}`
  }
  if (dataClass === undefined) {
    if (key ?? filter) throw refusal('key and filter take a class')
    // The session of an agent is its key or token.
    if (name === LOGIN) throw refusal(`${LOGIN} logs in; send a key or a token with the requests to /mcp`)
    return `$catalog/${part}`
  }
  if (key === undefined) return `${nameIn(dataClass)}/${part}`
  if (filter !== undefined) throw refusal('give a key or a filter, not both')
  return `${entityPath(dataClass, key)}/${part}`
}
