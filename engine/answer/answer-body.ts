import { type ByteSource, readWhole } from '../files/binary-reader.ts'
import type { Coding } from './coding.ts'

/** An answer as it is sent. A small answer is represented by its bytes. */
export type AnswerBody = Uint8Array | StoredBody

/** An answer that is compressed, or too large for memory. */
export interface StoredBody {
  readonly coding: Coding | undefined
  /** A source must be closed, even if the answer is not sent. */
  readonly body: Uint8Array | ByteSource
}

/** All bytes of an uncompressed answer, for code that inspects it. */
export async function bytesOf(answer: AnswerBody): Promise<Uint8Array> {
  if (answer instanceof Uint8Array) return answer
  const { body } = answer
  return body instanceof Uint8Array ? body : readWhole(body)
}
