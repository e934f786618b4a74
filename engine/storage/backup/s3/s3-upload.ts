import type { Stored } from '../backup-storage.ts'
import { digestFile } from '../digest-file.ts'
import { forEach } from '../for-each.ts'
import { BackupError } from '../manifest.ts'
import { READ, REMOVE, type S3Client, type S3Request, WRITE } from './s3-client.ts'
import { escapeXml, xmlElements, xmlText } from './s3-xml.ts'

/**
 * Prefix of markers: an empty object for each name that is being uploaded in parts. The server keeps the parts, and counts their bytes,
 * until the upload is completed or aborted; some servers list uploads only for a given name.
 */
export const UPLOADS = 'uploads/'
const PART_BYTES = 64 * 2 ** 20
/** Maximum number of parts. The protocol allows 10,000. */
const MAX_PARTS = 9_000
/** Maximum number of parts that are sent at the same time. */
const AT_ONCE = 4
const DIGEST = 'x-amz-meta-sha256'
const PRECONDITION_FAILED = 412
const NOT_IMPLEMENTED = 501
const NOT_FOUND = 404

/** Uploads files. Large files are sent in parts. */
export class S3Uploads {
  /** False after the server has refused to store an object on the condition that the name is unused. */
  private hasConditions = true

  constructor(
    private readonly client: S3Client,
    private readonly partBytes = PART_BYTES,
  ) {}

  /**
   * Stores a file under a name that is not used for any other content.
   * @param isAllowed called before the object appears @throws {BackupError}
   */
  async put(name: string, path: string, content: Stored, isAllowed: () => void): Promise<void> {
    if (content.bytes > this.partBytes) return this.putParts(name, path, content, isAllowed)
    isAllowed()
    const body = { path, start: 0, end: content.bytes, sha256: content.sha256 }
    const headers = { [DIGEST]: content.sha256 }
    await this.storeOnce(name, content, { ...WRITE, name, headers, body })
  }

  /** Aborts the uploads in parts that an earlier process has left behind. @param markers names of their objects */
  async clear(markers: readonly string[]): Promise<void> {
    await forEach(markers, async marker => {
      await this.abort(marker.slice(UPLOADS.length))
      await this.client.send({ ...REMOVE, name: marker })
    })
  }

  private async putParts(name: string, path: string, content: Stored, isAllowed: () => void): Promise<void> {
    const marker = UPLOADS + name
    try {
      await this.client.send({ ...WRITE, name: marker, body: '' })
      const upload = await this.begin(name, content)
      const tags = await this.sendParts(name, upload, path, content)
      isAllowed()
      const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`)
      const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
      const query = { uploadId: upload }
      await this.storeOnce(name, content, { ...WRITE, method: 'POST', name, query, body })
    } finally {
      // A completed upload no longer exists. If this fails, the next backup clears the marker.
      await this.clear([marker]).catch(() => {})
    }
  }

  private async begin(name: string, { sha256 }: Stored): Promise<string> {
    const headers = { [DIGEST]: sha256 }
    const { text } = await this.client.send({ ...WRITE, method: 'POST', name, query: { uploads: '' }, headers })
    const upload = xmlText(text, 'UploadId')
    if (upload) return upload
    throw new BackupError(
      `${this.client.bucket.place} cannot be written to: the server does not begin an upload in parts`,
    )
  }

  /** @returns tags of the parts, in order */
  private async sendParts(name: string, upload: string, path: string, { bytes }: Stored): Promise<string[]> {
    const partBytes = Math.max(this.partBytes, Math.ceil(bytes / MAX_PARTS))
    const tags: string[] = new Array(Math.ceil(bytes / partBytes))
    const sendPart = async (i: number): Promise<void> => {
      const [start, end] = [i * partBytes, Math.min(bytes, (i + 1) * partBytes)]
      const body = { path, start, end, sha256: (await digestFile(path, { start, end })).sha256 }
      const query = { partNumber: String(i + 1), uploadId: upload }
      const { headers } = await this.client.send({ ...WRITE, name, query, body })
      tags[i] = headers.etag ?? ''
    }
    await forEach(tags.keys(), sendPart, AT_ONCE)
    return tags
  }

  /** Makes an object appear, which must not exist before. */
  private async storeOnce(name: string, content: Stored, request: S3Request): Promise<void> {
    const condition = this.hasConditions ? { 'if-none-match': '*' } : undefined
    if (!condition && (await this.isStored(name, content))) return
    const accept = [PRECONDITION_FAILED, ...(condition ? [NOT_IMPLEMENTED] : [])]
    try {
      const { status } = await this.client.send({ ...request, headers: { ...request.headers, ...condition }, accept })
      if (status === NOT_IMPLEMENTED) this.hasConditions = false
      else if (status !== PRECONDITION_FAILED) return
    } catch (error) {
      // An earlier try may have ended the upload, although its answer was lost.
      if (request.method === 'POST' && (await this.isStored(name, content).catch(() => false))) return
      throw error
    }
    if (this.hasConditions) {
      // An earlier try, or an interrupted backup, has stored it.
      if (await this.isStored(name, content)) return
      throw new BackupError(`${this.client.bucket.place}/${name} is changed by another process`)
    }
    return this.storeOnce(name, content, request)
  }

  /** @throws {BackupError} the object has other content */
  private async isStored(name: string, { bytes, sha256 }: Stored): Promise<boolean> {
    const { status, headers } = await this.client.send({ ...READ, method: 'HEAD', name })
    if (status === NOT_FOUND) return false
    if (Number(headers['content-length']) === bytes && headers[DIGEST] === sha256) return true
    throw new BackupError(`${this.client.bucket.place}/${name} is there already, with another content`)
  }

  /** Aborts the uploads of a name. */
  private async abort(name: string): Promise<void> {
    const key = this.client.bucket.prefix + name
    const what = 'cannot be cleared'
    for (let isTruncated = true; isTruncated; ) {
      const { text } = await this.client.send({ method: 'GET', query: { uploads: '', prefix: key }, what })
      const uploads = xmlElements(text, 'Upload').filter(each => xmlText(each, 'Key') === key)
      await forEach(uploads, async each => {
        await this.client.send({ ...REMOVE, name, query: { uploadId: xmlText(each, 'UploadId') ?? '' } })
      })
      isTruncated = uploads.length > 0 && xmlText(text, 'IsTruncated') === 'true'
    }
  }
}
