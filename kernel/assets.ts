import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lookup } from 'mrmime'
import { type Coding, compressLater, MIN_CODED_BYTES } from '../engine/index.ts'
import { conditionsOf, isCurrent, partOf } from './conditional.ts'
import type { Reply } from './reply.ts'
import type { RestRequest } from './request.ts'

/**
 * Maximum size of all files of a folder that `scope.assets` serves, since they are held in memory. A larger site needs a separate web
 * server.
 */
export const MAX_ASSET_BYTES = 64 * 2 ** 20

/** A file that is served unchanged. */
export interface Asset {
  readonly mediaType: string
  readonly bytes: Uint8Array
  /** Digest of the bytes. */
  readonly digest: string
  readonly cacheControl: string
  /** `Content-Security-Policy`. */
  readonly policy: string
  /** Compressed bytes by coding, created on first use. */
  readonly coded: Map<Coding, Promise<Uint8Array>>
}

/** Default policy: only scripts, styles, images and data of this server, nothing inline. Source: Content Security Policy, level 3. */
const PAGE_POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'font-src', 'connect-src', 'worker-src', 'manifest-src', 'form-action'].map(
    each => `${each} 'self'`,
  ),
  "img-src 'self' data: blob:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Matches a name with a digest, as written by bundlers: `page-5XHGJ4TM.js`. Its content never changes. */
const HASHED = /[-.][0-9A-Za-z]{8,}\.\w+$/

const isText = (mediaType: string): boolean => /^text\/|[/+](?:json|javascript|xml)\b/.test(mediaType)

/**
 * Reads the regular files of a folder while the server starts, by their paths as in requests. Links and names that begin with a dot are
 * left out. Requests are looked up among these paths, so that no path leads out of the folder.
 */
export function loadAssets(folder: URL, policy = PAGE_POLICY): ReadonlyMap<string, Asset> {
  const root = realpathSync.native(fileURLToPath(folder))
  const assets = new Map<string, Asset>()
  let total = 0
  for (const name of (readdirSync(root, { recursive: true }) as string[]).sort()) {
    const file = join(root, name)
    const parts = name.split(sep)
    if (parts.some(part => part.startsWith('.')) || !lstatSync(file).isFile()) continue
    // A parent folder may be a link.
    if (realpathSync.native(file) !== file) continue
    const bytes = readFileSync(file)
    total += bytes.length
    if (total > MAX_ASSET_BYTES) throw new Error(`${root} has more than ${MAX_ASSET_BYTES} bytes to serve`)
    assets.set(parts.map(encodeURIComponent).join('/'), assetOf(name, bytes, policy))
  }
  return assets
}

function assetOf(name: string, bytes: Uint8Array, policy: string): Asset {
  const type = lookup(name) ?? 'application/octet-stream'
  return {
    mediaType: isText(type) ? `${type}; charset=UTF-8` : type,
    bytes,
    digest: createHash('sha256').update(bytes).digest('base64url').slice(0, 22),
    cacheControl: HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    policy,
    coded: new Map(),
  }
}

/**
 * Path in the encoding of {@link loadAssets}: clients leave `@` and other characters unencoded. An encoded `/` stays encoded.
 * @returns undefined for a path that cannot be decoded
 */
export function canonicalPath(path: string): string | undefined {
  try {
    return path
      .split('/')
      .map(part => encodeURIComponent(decodeURIComponent(part)))
      .join('/')
  } catch {
    return undefined
  }
}

/** @param varies request headers that influenced the choice of this file */
export async function sendAsset(asset: Asset, request: RestRequest, varies: readonly string[] = []): Promise<Reply> {
  const { mediaType, digest, cacheControl, policy } = asset
  const conditions = conditionsOf(request)
  const isCompressible = isText(mediaType) && asset.bytes.length >= MIN_CODED_BYTES
  // Ranges refer to the plain bytes.
  const coding = isCompressible && conditions.range === '' ? request.transport.coding : undefined
  const tag = `"${digest}${coding ? `-${coding}` : ''}"`
  // The server adds it to compressed answers.
  const vary = [...varies, ...(isCompressible && !coding ? ['Accept-Encoding'] : [])].join(', ')
  const headers = {
    ETag: tag,
    'Cache-Control': cacheControl,
    'Content-Security-Policy': policy,
    ...(vary && { Vary: vary }),
    ...(coding && { 'Content-Encoding': coding }),
  }
  if (isCurrent(conditions, tag)) return { status: 304, headers, body: '' }
  const bytes = coding ? await codedBytes(asset, coding) : asset.bytes
  const open = (start: number, end: number) => bytes.subarray(start, end)
  return (await partOf({ headers, mediaType, tag, size: bytes.length, open }, conditions))!
}

function codedBytes({ coded, bytes }: Asset, coding: Coding): Promise<Uint8Array> {
  const cachedBytes = coded.get(coding)
  if (cachedBytes) return cachedBytes
  const compressedBytes = compressLater(bytes, coding)
  coded.set(coding, compressedBytes)
  return compressedBytes
}
