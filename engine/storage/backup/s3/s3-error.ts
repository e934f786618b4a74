import { BackupError } from '../manifest.ts'
import type { S3Bucket } from './s3-bucket.ts'

/** A refusal of the server. */
export interface Refusal {
  readonly status: number
  /** Code such as `AccessDenied`; empty if the answer has none. */
  readonly code: string
  /** Region of the bucket, if the request was for another region. */
  readonly region: string | undefined
}

const PASSING = new Set([
  'SlowDown',
  'InternalError',
  'ServiceUnavailable',
  'RequestTimeout',
  'OperationAborted',
  'ConditionalRequestConflict',
  // The body was damaged in transit.
  'BadDigest',
  'IncompleteBody',
  'XAmzContentSHA256Mismatch',
])

/** True if the same request may succeed later. */
export const isPassing = ({ status, code }: Refusal): boolean =>
  (status >= 500 && status !== 501) || status === 429 || status === 408 || PASSING.has(code)

const REASONS: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'the server does not know the key of AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'AWS_SECRET_ACCESS_KEY is not the secret of AWS_ACCESS_KEY_ID',
  ExpiredToken: 'AWS_SESSION_TOKEN has expired',
  InvalidToken: 'AWS_SESSION_TOKEN is not valid',
  NoSuchBucket: 'the bucket does not exist',
  NoSuchUpload: 'the upload was given up by another process, or by the server',
  RequestTimeTooSkewed: 'the clocks of this machine and of the server differ by more than 15 minutes',
}

/** @param what the request in words, such as "cannot be listed" */
export function describeRefusal({ place }: S3Bucket, { status, code, region }: Refusal, what: string): BackupError {
  const isElsewhere =
    region !== undefined && (status === 301 || status === 307 || /^(Authorization|Permanent)/.test(code))
  const reason = isElsewhere
    ? `the bucket is in the region ${region}; AWS_REGION names it`
    : code === 'AccessDenied' || (status === 403 && !REASONS[code])
      ? 'the key has no right to do that'
      : REASONS[code]
  const answer = code === '' ? `${status}` : `${status} ${code}`
  return new BackupError(
    `${place} ${what}: ${reason === undefined ? `the server answers ${answer}` : `${reason} (${answer})`}`,
  )
}
