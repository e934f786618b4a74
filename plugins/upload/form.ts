import { once } from 'node:events'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import type { RestRequest } from '../../kernel/api.ts'
import { UploadErrors } from './errors.ts'

type StreamBody = RestRequest['streamBody']

/** Limits of the other fields of a form, which are ignored: few and small. Lengths in bytes. */
const LIMITS = { parts: 101, fieldNameSize: 200, fieldSize: 64 * 1024, headerPairs: 50 }
/** Bytes parsed at a time: at worst, if they consist of part boundaries only, they take about 10 ms and exceed the limit of parts. */
const SLICE_BYTES = 32 * 1024

/**
 * Streams the only file of a form, as `fetch` sends a `FormData` with the file of an `<input>`.
 * @param checkLabel checks the media type that the form gives to the file
 * @throws {UploadErrors.BAD_FORM} {@link UploadErrors.FILES_OF_FORM}
 * Source: RFC 7578.
 */
export async function streamFileOfForm(
  request: RestRequest,
  checkLabel: (mediaType: string) => void,
  take: Parameters<StreamBody>[0],
  limits: Parameters<StreamBody>[1],
): Promise<void> {
  const form = open(request.transport.header('content-type'))
  const files: Promise<void>[] = []
  let fail!: (error: unknown) => void
  const failure = new Promise<never>((_, reject) => {
    fail = reject
  })
  let hasFailed = false
  failure.catch(() => (hasFailed = true))
  form.on('error', (error: Error) => fail(UploadErrors.BAD_FORM(error.message)))
  form.on('partsLimit', () => fail(UploadErrors.BAD_FORM(`it has more than ${LIMITS.parts} parts`)))
  form.on('file', (_field, file, _name, _encoding, mediaType) => {
    const transfer = (async () => {
      if (files.length > 0) throw UploadErrors.FILES_OF_FORM('several files')
      checkLabel(mediaType.toLowerCase())
      for await (const piece of file) await take(piece as Uint8Array)
    })()
    transfer.catch(fail)
    files.push(transfer)
  })
  const parse = async (piece: Buffer): Promise<void> => {
    for (let start = 0; start < piece.length && !hasFailed; start += SLICE_BYTES) {
      await new Promise<void>(resolve => void form.write(piece.subarray(start, start + SLICE_BYTES), () => resolve()))
    }
  }
  let parsing = Promise.resolve()
  const write = (piece: Uint8Array): Promise<void> => {
    // The buffer of a piece is reused, and the next piece may arrive while this one is parsed.
    const copy = Buffer.from(piece)
    parsing = parsing.then(() => parse(copy))
    return parsing
  }
  await request.streamBody(piece => Promise.race([write(piece), failure]), limits)
  const completion = once(form, 'finish')
  form.end()
  await Promise.race([completion, failure])
  if (files.length === 0) throw UploadErrors.FILES_OF_FORM('no file')
  await Promise.all(files)
}

function open(contentType: string): BusboyInstance {
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits: LIMITS })
  } catch (error) {
    throw UploadErrors.BAD_FORM((error as Error).message)
  }
}
