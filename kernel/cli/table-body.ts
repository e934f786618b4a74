import { csvText, rejectedRow, type TableFile, tableTexts } from '../../engine/command-line.ts'

/** A table as the body of an import: CSV whose line numbers are those of the table, as long as no cell has several lines. */
export class TableBody {
  /** Lines of a file of errors, for rows that cannot be sent. */
  readonly unsent: string[] = []
  /** Pairs: a line of the body from which the line numbers of the table differ, and the difference. */
  private readonly shifts: (readonly [number, number])[] = []

  constructor(private readonly table: TableFile) {}

  async *bytes(): AsyncGenerator<Buffer> {
    const header = csvText(this.table.columns.map(({ name }) => name))
    yield Buffer.from(`${header}\n`)
    let next = 2 + lineEnds(header)
    let shift = 0
    for await (const rows of tableTexts(this.table)) {
      const texts: string[] = []
      for (const { line, text, problem } of rows) {
        if (problem !== undefined) {
          this.unsent.push(rejectedRow({ line, json: text, value: new Error(problem) }, [problem]))
          continue
        }
        if (line - next !== shift) {
          shift = line - next
          this.shifts.push([next, shift])
        }
        texts.push(text)
        next += 1 + lineEnds(text)
      }
      if (texts.length > 0) yield Buffer.from(`${texts.join('\n')}\n`)
    }
  }

  /** Lines of an error file with the line numbers of the table, in order, including rows that were not sent. */
  inFile(rejectedLines: readonly string[]): string[] {
    const shiftedLines = rejectedLines.map(text =>
      text.replace(/^\{"line":(\d+)/, (_, line) => `{"line":${this.lineOf(Number(line))}`),
    )
    return [...shiftedLines, ...this.unsent].sort((one, other) => lineIn(one) - lineIn(other))
  }

  private lineOf(line: number): number {
    const [, shift] = this.shifts.findLast(([from]) => from <= line) ?? [0, 0]
    return line + shift
  }
}

const lineEnds = (text: string): number => text.split('\n').length - 1
const lineIn = (text: string): number => Number(/^\{"line":(\d+)/.exec(text)![1])
