import { type ByteSource, readWhole } from '../files/binary-reader.ts'
import type { Coding } from './coding.ts'

/** An answer as it is sent. A small one is its bytes. */
export type AnswerBody = Uint8Array | StoredBody

/** An answer that is compressed, or too large for memory. */
export interface StoredBody {
  readonly coding: Coding | undefined
  /** A source has to be closed, whatever becomes of the answer. */
  readonly body: Uint8Array | ByteSource
}

/** The whole of an answer that is not compressed, for code that looks into it. */
export async function bytesOf(answer: AnswerBody): Promise<Uint8Array> {
  if (answer instanceof Uint8Array) return answer
  const { body } = answer
  return body instanceof Uint8Array ? body : readWhole(body)
}
