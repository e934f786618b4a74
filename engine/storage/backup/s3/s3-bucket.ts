import { BackupError } from '../manifest.ts'

/** Variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A place for backups in a bucket. */
export interface S3Bucket {
  /** `s3://bucket/prefix`, for messages. */
  readonly place: string
  /** Beginning of the keys; empty, or with a `/` at its end. */
  readonly prefix: string
  /** Address of the bucket, without a `/` at its end. */
  readonly url: string
  /** Region of the bucket; undefined if the address of the server contains it. */
  readonly region: string | undefined
}

const ADDRESS = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9])(?:\/(.*))?$/s
const MAX_PREFIX_BYTES = 512
/** Placeholder for the bucket in the address of a server that has a host name for each bucket. */
const BUCKET = '{bucket}'

export const isS3Address = (text: string): boolean => /^s3:/i.test(text)

/**
 * Reads the address of a place.
 * @param endpoint address of the server; by default that of AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or of Amazon for the region
 * @throws {BackupError} the address cannot be used; does not repeat it, since a password may have been written into it
 */
export function readS3Address(address: string, endpoint: string | undefined, env: Environment): S3Bucket {
  const [, bucket, path = ''] = ADDRESS.exec(address) ?? []
  if (bucket === undefined)
    throw new BackupError(
      'the address of the backups is not s3://bucket/prefix; keys belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    )
  const parts = path.replace(/\/$/, '').split('/')
  const prefix = parts.join('/')
  // Clients and proxies resolve such parts, and the signature would then be for a different path.
  const isBad = parts.some(part => part === '' || part === '.' || part === '..')
  if (prefix !== '' && (isBad || /\p{Cc}/u.test(prefix) || Buffer.byteLength(prefix) > MAX_PREFIX_BYTES))
    throw new BackupError(
      `the prefix in s3://${bucket}/… cannot be used: it is at most ${MAX_PREFIX_BYTES} bytes of names with "/" between them, none of them empty, "." or ".."`,
    )
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || undefined
  if (region !== undefined && !/^[a-z0-9-]+$/i.test(region))
    throw new BackupError(
      `AWS_REGION is ${JSON.stringify(region.slice(0, 50))}, which is not a region such as eu-central-1`,
    )
  const server = endpoint || env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined
  return {
    place: prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`,
    prefix: prefix === '' ? '' : `${prefix}/`,
    url: server === undefined ? urlAtAmazon(bucket, region ?? 'us-east-1') : urlAt(server, bucket),
    region: server === undefined ? (region ?? 'us-east-1') : region,
  }
}

function urlAtAmazon(bucket: string, region: string): string {
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  // The wildcard certificate covers only one label before the host.
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`
}

function urlAt(endpoint: string, bucket: string): string {
  const text = endpoint.replace(BUCKET, bucket)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new BackupError(
      `the endpoint is not an address such as https://minio.example:9000, or https://${BUCKET}.example for a server that has a host name for each bucket`,
    )
  const base = url.href.replace(/\/$/, '')
  return endpoint.includes(BUCKET) ? base : `${base}/${bucket}`
}
