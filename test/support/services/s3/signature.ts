import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** A key that a server knows. */
export interface S3Key {
  readonly id: string
  readonly secret: string
  readonly token?: string
  readonly region: string
}

const FIELDS =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
const MAX_SKEW_MS = 15 * 60_000

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** RFC 3986: all but its unreserved characters, byte by byte. */
export const percentEncoded = (text: string): string =>
  [...Buffer.from(text)]
    .map(byte => {
      const character = String.fromCharCode(byte)
      return /[\w.~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')

/**
 * Verifies a request as Amazon describes it (Signature Version 4, header form), from the bytes of its head.
 * @returns the code of the error; undefined if all is right
 */
export function refusalOf(request: IncomingMessage, body: Buffer, key: S3Key, now: number): string | undefined {
  const { headers, method = '', url = '' } = request
  const fields = FIELDS.exec(headers.authorization ?? '')
  if (!fields) return 'AccessDenied'
  const [, id, day, region, signedHeaders, signature] = fields as unknown as string[]
  if (id !== key.id) return 'InvalidAccessKeyId'
  if (region !== key.region) return 'AuthorizationHeaderMalformed'
  if (headers['x-amz-security-token'] !== key.token) return 'InvalidToken'
  const time = String(headers['x-amz-date'])
  const at = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (!(Math.abs(at - now) <= MAX_SKEW_MS) || !time.startsWith(day!)) return 'RequestTimeTooSkewed'
  const names = signedHeaders!.split(';')
  const mustBeSigned = Object.keys(headers).filter(name => name === 'host' || name.startsWith('x-amz-'))
  if (mustBeSigned.some(name => !names.includes(name))) return 'AccessDenied'
  const [path = '', search = ''] = url.split('?')
  const decoded = (text: string): string => percentEncoded(decodeURIComponent(text))
  const query = search
    .split('&')
    .filter(Boolean)
    .map(pair => pair.split('='))
    .map(([name = '', value = '']) => `${decoded(name)}=${decoded(value)}`)
    .sort()
  const canonical = [
    method,
    path.split('/').map(decoded).join('/'),
    query.join('&'),
    ...names.map(name => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    signedHeaders,
    headers['x-amz-content-sha256'],
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const signingKey = [day!, region!, 's3', 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${key.secret}`)
  if (hmac(signingKey, text).toString('hex') !== signature) return 'SignatureDoesNotMatch'
  return headers['x-amz-content-sha256'] === sha256(body) ? undefined : 'XAmzContentSHA256Mismatch'
}
