/** Requests and answers of tests on every transport. */
import { createHash } from 'node:crypto'
import type { TransportResponse } from '../../../../kernel/transport/transport.ts'

export const TEN_MB = 10 * 1024 * 1024
export const ok = (body: string | Uint8Array = 'ok'): TransportResponse => ({ status: 200, body })
export const sha1 = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest('hex')
export const rawGet = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`
export const LAST = 'Connection: close\r\n'
export const url = (port: number, path = '/') => `http://127.0.0.1:${port}${path}`
export const bodyOf = (received: string) => Buffer.from(received.split('\r\n\r\n')[1] ?? '', 'latin1').toString()
export const parsedError = (body: string) => JSON.parse(body).__ERROR[0]

/** A promise that a test resolves. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open!: () => void
  const opened = new Promise<void>(resolve => {
    open = resolve
  })
  return { opened, open }
}
