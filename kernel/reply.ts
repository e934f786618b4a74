import type { Promised } from '../engine/index.ts'
import type { TransportResponse } from './transport/transport.ts'

export type Reply = TransportResponse

/** Every JSON answer of the protocol has it. Source: protocol notes, 11. */
export const JSON_HEADERS = Object.freeze({ 'Content-Type': 'application/json; charset=UTF-8' } as const)

/** A value as the JSON body of an answer. */
export const json = (value: unknown, status = 200, headers?: Record<string, string>): Reply => ({
  status,
  headers: headers ? { ...JSON_HEADERS, ...headers } : JSON_HEADERS,
  body: JSON.stringify(value),
})

/** A body that is JSON already, as the engine writes it, at once or later. */
export function encoded(body: Uint8Array, status?: number, headers?: Record<string, string>): Reply
export function encoded(body: Promised<Uint8Array>, status?: number, headers?: Record<string, string>): Promised<Reply>
export function encoded(body: Promised<Uint8Array>, status = 200, headers?: Record<string, string>): Promised<Reply> {
  if (body instanceof Promise) return body.then(bytes => encoded(bytes, status, headers))
  return { status, headers: headers ? { ...JSON_HEADERS, ...headers } : JSON_HEADERS, body }
}
