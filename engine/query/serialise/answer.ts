import type { QueryBudget } from '../scan/query-budget.ts'
import { ByteWriter, type PieceSink } from '../../answer/byte-writer.ts'
import type { RowFormat } from '../contract/request.ts'
import { JsonIndenter } from './indent-json.ts'
import { RowRewriter } from './rewrite-rows.ts'

/** Context of an answer besides its content. */
export interface AnswerContext {
  /** Budget that is checked from time to time; without one the answer is always completed. */
  readonly budget?: QueryBudget | undefined
  /** Sink of large answers. Without one the whole answer is kept in memory, up to its limit. */
  readonly sink?: PieceSink | undefined
}

export interface AnswerShape {
  readonly maxBytes: number
  /** True for JSON that is indented for people. */
  readonly pretty: boolean
  /** Lines in place of an array. */
  readonly rowFormat?: RowFormat | undefined
}

/** The buffer of this thread: an answer is a view of it, valid until the next answer is started. */
const out = new ByteWriter()
/** Buffer for answers that are rewritten in another form. */
const rewritten = new ByteWriter()
let rewriter: JsonIndenter | RowRewriter | undefined

/** Starts an answer. Bytes written before `open()` can be repeated in the answer but are not part of it. */
export function startAnswer({ maxBytes, pretty, rowFormat }: AnswerShape, sink: PieceSink | undefined): ByteWriter {
  if (!pretty && !rowFormat) {
    rewriter = undefined
    out.begin(maxBytes, sink)
    return out
  }
  rewritten.begin(maxBytes, sink)
  rewritten.open()
  const newRewriter = rowFormat ? new RowRewriter(rewritten, rowFormat) : new JsonIndenter(rewritten)
  rewriter = newRewriter
  const piecewise = sink && {
    ...sink,
    write: (piece: Uint8Array) => newRewriter.write(piece),
    hold: (bytes: number) => sink.hold(bytes),
    restart: () => sink.restart(),
  }
  out.begin(maxBytes, piecewise)
  return out
}

/** @returns the answer, or its rest that was not written to the sink: a view, valid until the next answer is started */
export function finishAnswer(): Uint8Array {
  if (!rewriter) return out.remainder()
  rewriter.write(out.remainder())
  return rewritten.remainder()
}

/** Releases memory that was allocated for a large answer. */
export function releaseBuffers(): void {
  out.shrink()
  rewritten.shrink()
}
