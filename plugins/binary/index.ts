import type { BinaryValue, Promised } from '../../engine/index.ts'
import { definePlugin, type Reply, type RestRequest } from '../../kernel/api.ts'

/**
 * `$imageformat` and `$binary`: the bytes of an image or a blob.
 *
 *   GET /Country(FR)/flag?$imageformat=best&$version=1&$expand=flag
 *   GET /Company(1)/contract?$binary=true&$expand=contract
 *
 * `best` and the format that is stored give the stored bytes, any other format an empty body. `$version` only defeats
 * caches. Without these parameters the attribute is a deferred link, as in any other answer.
 * Source: base specification, 4.2; protocol notes, 10.2 and 10.3.
 */
export default definePlugin({
  name: 'binary',
  kernel: '^1.0.0',
  register({ command, engine }) {
    const answer = (request: RestRequest, format: string): Promised<Reply> | undefined => {
      const items = request.read.output.attributes?.items
      if (!request.isEntity || items?.length !== 1) return undefined
      const found = engine.readBinary(request.read, items[0]!, request.transport)
      if (found === undefined) return undefined
      return found instanceof Promise ? found.then(binary => replyWith(binary, format)) : replyWith(found, format)
    }
    command('$imageformat', { verbs: ['GET'] }, request =>
      answer(request, request.parameter('$imageformat')!.toLowerCase()),
    )
    command('$binary', { verbs: ['GET'] }, request => (request.flag('$binary') ? answer(request, 'best') : undefined))
  },
})

function replyWith(found: BinaryValue | null, format: string): Reply {
  const wanted = format === 'best' || found === null || found.mediaType === `image/${format}`
  if (!found || !wanted) return { status: 200, headers: BYTES, body: '' }
  return { status: 200, headers: { ...BYTES, 'Content-Type': found.mediaType }, body: found.bytes }
}

/** Stored bytes come from clients: a browser must neither guess their type nor run them (an SVG can hold scripts). */
const BYTES = {
  'Content-Type': 'application/octet-stream',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}
