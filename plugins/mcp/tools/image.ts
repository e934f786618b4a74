import { Type } from '@sinclair/typebox'
import { type Answer, type Ask, entityPath, nameIn } from '../ask.ts'
import { defineTool } from '../tool.ts'
import { refusal } from '../tool-error.ts'

/** Maximum bytes of an image in an answer. It bounds the transfer; models see only pixels. */
const MAX_BYTES = 96 * 1024
const SIDE = 512
const MIN_SIDE = 64
/** Formats that models can read. */
const SHOWN = /^image\/(?:png|jpeg|gif|webp)\b/

export const image = defineTool({
  name: 'image',
  title: 'Look at an image',
  description: 'Returns a reduced image of one entity.',
  input: Type.Object(
    {
      class: Type.String({ minLength: 1, maxLength: 200 }),
      key: Type.String({ minLength: 1, maxLength: 1_000 }),
      attribute: Type.String({ minLength: 1, maxLength: 200 }),
      side: Type.Optional(
        Type.Integer({ minimum: MIN_SIDE, maximum: 2_048, description: `pixels of the longer side, default ${SIDE}` }),
      ),
    },
    { additionalProperties: false },
  ),
  async run({ class: dataClass, key, attribute, side = SIDE }, { ask }) {
    const path = `${entityPath(dataClass, key)}/${nameIn(attribute)}`
    const { bytes, mediaType } = (await smaller(ask, path, side)) ?? (await asStored(ask, path))
    if (bytes.length === 0) throw refusal(`${attribute} of ${dataClass} ${key} has no image that can be shown`)
    const data = Buffer.from(bytes).toString('base64')
    return { content: [{ type: 'image', data, mimeType: mediaType.split(';', 1)[0]! }] }
  },
})

/** The image as WebP, with ever smaller sides until it fits; undefined if it cannot be converted here. */
async function smaller(ask: Ask, path: string, side: number): Promise<Answer | undefined> {
  for (let each = side; ; each = Math.floor(each / 2)) {
    const answer = await ask({ path, parameters: { imageformat: 'webp', width: each, height: each } })
    if (answer.bytes.length === 0) return undefined
    if (!SHOWN.test(answer.mediaType)) throw refusal('the attribute is not an image')
    if (answer.bytes.length <= MAX_BYTES) return answer
    if (each / 2 < MIN_SIDE) throw refusal(`the image has more than ${MAX_BYTES} bytes at ${each} pixels`)
  }
}

async function asStored(ask: Ask, path: string): Promise<Answer> {
  const answer = await ask({ path, parameters: { imageformat: 'best' }, maxBytes: MAX_BYTES })
  if (answer.bytes.length === 0 || SHOWN.test(answer.mediaType)) return answer
  throw refusal(`it is an image of type ${answer.mediaType}, which cannot be converted here: sharp is not installed`)
}
