import { type AnswerBody, bytesOf, type Engine, parsePathList } from '../../../engine/index.ts'
import type { ReadRequest } from '../../../engine/query/contract/request.ts'

/** A read of these attributes of all entities, unless `part` says otherwise. */
export const readRequest = (dataClass: string, attributes: string, part: Partial<ReadRequest> = {}): ReadRequest => ({
  dataClass,
  source: { kind: 'all' },
  skip: 0,
  top: Number.POSITIVE_INFINITY,
  output: { form: 'collection', attributes: { from: 'path', items: parsePathList(attributes) } },
  ...part,
})

/** The answer to a read. */
// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
export async function readJson(engine: Engine, request: ReadRequest): Promise<any> {
  const body = engine.queries.read(request)
  // A body that is returned at once is valid only until the next read.
  return decode(body instanceof Uint8Array ? body : await bytesOf(await body))
}

// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
export const decode = (body: AnswerBody): any => JSON.parse(Buffer.from(body as Uint8Array).toString())
