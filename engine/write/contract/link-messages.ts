import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { ErrorData, ProtocolError } from '../../base/errors.ts'
import type { Change } from '../../data/change.ts'
import type {
  CalculatedRequest,
  DeleteRequest,
  EnqueueRequest,
  LockRequest,
  SaveRequest,
  WriteResult,
} from './requests.ts'
import type { SentSave } from './sent-save.ts'
import { WriterErrors } from './writer-errors.ts'

/** One end of a link, on its way to the writer thread. The port is transferred, the signal is shared. */
export interface LinkEnd {
  readonly port: MessagePort
  /** {@link ANSWERS}, {@link REQUESTS} and {@link STATE}. */
  readonly signal: Int32Array
}

/** Entries of a link's signal. A sender counts a message after sending it, so that a thread that wakes up finds it. */
export const ANSWERS = 0
export const REQUESTS = 1
export const STATE = 2
/** States of a link. */
export const OPEN = 0
/** The writer is gone; the request may have been written or not. */
export const LOST = 1
/** The writer never received the request: it is restarting, waits for the disk, or makes no progress. */
export const REFUSED = 2
export const REFUSED_DISK = 3
export const REFUSED_STALLED = 4

/** Reason for which a link was cut. */
export type CutState = typeof LOST | typeof REFUSED | typeof REFUSED_DISK | typeof REFUSED_STALLED

/** Requests of a linked thread. */
export type LinkedRequest = SaveRequest | DeleteRequest | LockRequest | CalculatedRequest | EnqueueRequest

/** Handled in `engine/threads/writer-thread.ts`, and inside a transaction in `engine/write/steps/linked-thread.ts`. */
export type ToLinkedWriter =
  | { readonly kind: 'write'; readonly request: LinkedRequest }
  /** Requests whose answers the thread does not wait for. */
  | { readonly kind: 'later'; readonly requests: readonly LaterRequest[] }
  /** All following requests up to `end` are one transaction, nested in the open one if there is one. */
  | { readonly kind: 'begin'; readonly timeoutMs: number }
  | { readonly kind: 'end'; readonly keep: boolean }

/** A request for whose answer its thread does not wait. */
export interface LaterRequest {
  readonly id: number
  readonly request: Exclude<LinkedRequest, SaveRequest> | SentSave
}

/** Answers to `later`, in any order. Handled in `engine/write/client/later-link.ts`. */
export interface LaterAnswers {
  readonly outcomes: readonly { readonly id: number; readonly outcome: WriteResult | ErrorData }[]
}

/** Handled in `engine/write/client/writer-link.ts`. */
export interface FromLinkedWriter {
  /** Undefined when a transaction has begun or ended successfully. */
  readonly outcome?: WriteResult | ErrorData
  /** Changes inside an open transaction, which other threads do not see yet. */
  readonly changes?: readonly Change[]
}

/** Ends a link permanently; `state` is the reason for the waiting thread. May be called in any thread that has the signal. */
export function cutLink(signal: Int32Array, state: CutState): void {
  Atomics.compareExchange(signal, STATE, OPEN, state)
  for (const entry of [ANSWERS, REQUESTS, STATE]) {
    if (entry !== STATE) Atomics.add(signal, entry, 1)
    Atomics.notify(signal, entry)
  }
}

/** Two ends of a link, which share its signal. */
export function newLink(): { own: LinkEnd; other: LinkEnd } {
  const { port1, port2 } = new MessageChannel()
  const signal = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT))
  return { own: { port: port1, signal }, other: { port: port2, signal } }
}

/** Value of Retry-After while the writer makes no progress. */
const STALL_RETRY_SECONDS = 10

/** The error of a request for which there is no writer, or whose link was cut. */
export function cutReason(state: CutState): ProtocolError {
  switch (state) {
    case REFUSED:
      return WriterErrors.RESTARTING().retryAfter(1)
    case REFUSED_DISK:
      return WriterErrors.DISK_SILENT().retryAfter(STALL_RETRY_SECONDS)
    case REFUSED_STALLED:
      return WriterErrors.STALLED().retryAfter(STALL_RETRY_SECONDS)
    case LOST:
      return WriterErrors.OUTCOME_UNKNOWN()
  }
}
