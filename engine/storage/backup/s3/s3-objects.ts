import type { IncomingMessage } from 'node:http'
import { BackupError } from '../manifest.ts'
import { READ, type S3Client } from './s3-client.ts'
import { xmlElements, xmlText } from './s3-xml.ts'

/** An object of a listing. */
export interface S3Object {
  /** Name without the prefix of the place. */
  readonly name: string
  /** Time since the object was stored, in milliseconds, by the clock of the server. */
  readonly ageMs: number
}

/** Objects whose names begin with a prefix, in pages of a thousand. @throws {BackupError} */
export async function* listObjects(client: S3Client, prefix: string): AsyncGenerator<S3Object> {
  const start = client.bucket.prefix
  let next: string | undefined
  do {
    const { text, headers } = await client.send({
      method: 'GET',
      query: {
        'list-type': '2',
        // Names may contain characters that are not allowed in XML.
        'encoding-type': 'url',
        prefix: start + prefix,
        ...(next !== undefined && { 'continuation-token': next }),
      },
      what: 'cannot be listed',
    })
    const now = Date.parse(headers.date ?? '') || Date.now()
    const isEncoded = xmlText(text, 'EncodingType') === 'url'
    for (const content of xmlElements(text, 'Contents')) {
      const key = xmlText(content, 'Key') ?? ''
      const name = isEncoded ? decodeURIComponent(key.replaceAll('+', ' ')) : key
      const ageMs = now - Date.parse(xmlText(content, 'LastModified') ?? '')
      if (name.startsWith(start)) yield { name: name.slice(start.length), ageMs }
    }
    const last = next
    next = xmlText(text, 'IsTruncated') === 'true' ? xmlText(text, 'NextContinuationToken') : undefined
    if (next !== undefined && next === last)
      throw new BackupError(`${client.bucket.place} cannot be listed: the server repeats a page`)
  } while (next !== undefined)
}

/**
 * Content of an object in pieces. After a connection breaks, another one continues from the missing byte.
 * @returns undefined when the object does not exist @throws {BackupError}
 */
export async function openObject(client: S3Client, name: string): Promise<AsyncIterable<Buffer> | undefined> {
  const first = await client.open({ ...READ, name })
  return first && contentOf(client, name, first)
}

async function* contentOf(client: S3Client, name: string, first: IncomingMessage): AsyncGenerator<Buffer> {
  const place = `${client.bucket.place}/${name}`
  const total = Number(first.headers['content-length'])
  const tag = first.headers.etag
  let receivedBytes = 0
  let failedTries = 0
  let message: IncomingMessage | undefined = first
  while (message) {
    try {
      // A server that does not support ranges sends the beginning again.
      let skip = message.statusCode === 206 ? 0 : receivedBytes
      for await (const chunk of message as AsyncIterable<Buffer>) {
        const news = chunk.subarray(skip)
        skip -= chunk.length - news.length
        if (news.length === 0) continue
        receivedBytes += news.length
        failedTries = 0
        yield news
      }
      if (!(receivedBytes < total)) return
      throw new Error('the connection ended')
    } catch (error) {
      const { code, message: text } = error as NodeJS.ErrnoException
      if (!(await client.mayTryAgain(++failedTries))) throw new BackupError(`${place} cannot be read: ${code ?? text}`)
    }
    message = await client.open({
      ...READ,
      name,
      headers: { range: `bytes=${receivedBytes}-`, ...(tag && { 'if-match': tag }) },
    })
  }
  throw new BackupError(`${place} was removed while it was read`)
}
