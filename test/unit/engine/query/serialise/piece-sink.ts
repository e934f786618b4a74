import type { PieceSink } from '../../../../../engine/answer/byte-writer.ts'

/** Collects the pieces of an answer. */
export class Pieces implements PieceSink {
  readonly pieces: Buffer[] = []

  constructor(
    readonly pieceBytes: number,
    readonly batchRows: number,
  ) {}

  write(piece: Uint8Array): void {
    this.pieces.push(Buffer.from(piece))
  }

  hold(): void {}

  restart(): void {
    this.pieces.length = 0
  }

  whole(rest: Uint8Array): string {
    return Buffer.concat([...this.pieces, rest]).toString()
  }
}
