import { InputError } from '../base/input-error.ts'
import { MAX_PATH_LENGTH, MAX_PATH_NAMES } from './json-path.ts'

/** Lists that are named in messages. */
const MAX_LISTS = 10
/** White space that is kept before the first element of a list. */
const MAX_GAP = 1_000

type Expected = 'value' | 'valueOrEnd' | 'element' | 'name' | 'nameOrEnd' | 'colon' | 'commaOrEnd' | 'nothing'

/** An object or a list around the current position. */
interface Frame {
  readonly isObject: boolean
  /** The path to the list leads through it. */
  readonly isOnPath: boolean
  /** Name or index of the current member; undefined if it is longer than any in a path. */
  key: string | undefined
  /** The list was found inside it. */
  isAround: boolean
}

/**
 * Finds a list in a JSON document that arrives in parts, and notes where other lists of objects are. Memory does not grow with the
 * document: of what is not on a path to a list, only brackets and quotes are examined.
 */
export class ListScanner {
  /** Line of the current position, counted from 1. */
  line = 1
  /** Kind of the document. */
  root: 'list' | 'object' | undefined
  rootLine = 1
  /** Value of the member `type` of the document, if it is a short text. */
  type: string | undefined
  /** Paths to lists of objects, the first ones, and how many there are. Lists in lists do not count. */
  readonly lists: (readonly string[])[] = []
  listCount = 0
  /** Path to the first list without elements. */
  emptyList: readonly string[] | undefined
  /** Kind of the value at the path, if it is not a list of objects. */
  at: string | undefined
  /** White space between the beginning of the found list and its first element, from the last line end on. */
  gap = ''

  /** The document is not JSON, and is not read any further. */
  isWrong = false

  private readonly frames: Frame[] = []
  private mode: 'between' | 'text' | 'scalar' | 'skip' = 'between'
  private expected: Expected = 'value'
  /** Brackets that are open in what is skipped. */
  private depth = 0
  private isInText = false
  private isEscaped = false
  /** The text that is read is a name. */
  private isName = false
  /** Beginning of a name, or of the value of `type`; undefined for other texts, and if it is too long. */
  private raw: string | undefined
  /** The list whose first element is expected is the one at the path. */
  private isAtPath = false

  /** @param path names of the list; undefined to find lists of objects only */
  constructor(private readonly path: readonly string[] | undefined) {}

  /**
   * Reads the next part; after the list was found, the parts after it.
   * @returns position of the first element of the list, or of the bracket that ends it; undefined if the list has not been found yet
   * @throws {InputError} the document is wrong outside of lists
   */
  push(part: string): number | undefined {
    let i = 0
    while (i < part.length) {
      if (this.mode === 'skip') i = this.skip(part, i)
      else if (this.mode === 'text') i = this.readText(part, i)
      else if (this.mode === 'scalar') i = this.readScalar(part, i)
      else {
        const character = part[i]!
        if (!this.isSpace(character) && this.take(character)) return i
        i++
      }
    }
    return undefined
  }

  /** Reason why the document is not complete. */
  end(): string | undefined {
    if (this.root === undefined) return 'the file is empty'
    return this.expected === 'nothing' && this.mode === 'between' ? undefined : 'the file ends inside the document'
  }

  /** True once the document is complete. */
  get isComplete(): boolean {
    return this.expected === 'nothing'
  }

  private isSpace(character: string): boolean {
    if (character === '\n') {
      this.line++
      this.gap = '\n'
      return true
    }
    if (character !== ' ' && character !== '\r' && character !== '\t') return false
    if (this.gap.length < MAX_GAP) this.gap += character
    return true
  }

  /** @returns true if the list has been found */
  private take(character: string): boolean {
    const frame = this.frames.at(-1)
    switch (this.expected) {
      case 'name':
      case 'nameOrEnd':
        if (character === '"') this.beginText('name')
        else if (character === '}' && this.expected === 'nameOrEnd') this.close()
        else throw this.unexpected(character, 'a name in quotes should be')
        return false
      case 'colon':
        if (character !== ':') throw this.unexpected(character, 'a colon should be')
        this.expected = 'value'
        return false
      case 'commaOrEnd':
        if (character === ',') {
          this.expected = frame!.isObject ? 'name' : 'value'
          if (!frame!.isObject) frame!.key = String(Number(frame!.key) + 1)
        } else if (character === (frame!.isObject ? '}' : ']')) this.close()
        else throw this.unexpected(character, 'a comma should be')
        return false
      case 'element':
        return this.takeElement(character)
      case 'valueOrEnd':
        this.note(character, this.frames.slice(0, -1))
        if (character === ']') this.close()
        else this.takeValue(character)
        return false
      case 'value':
        this.takeValue(character)
        return false
      case 'nothing':
        throw this.wrong(`${JSON.stringify(character)} after the end of the document${character === '{' ? NDJSON : ''}`)
    }
  }

  private takeValue(character: string): void {
    const { frames, path } = this
    const frame = frames.at(-1)
    const isOnPath = this.leadsToList()
    if (isOnPath && frame?.isAround) throw this.wrong(`the name ${JSON.stringify(frame.key)} occurs twice`)
    const isAtPath = isOnPath && frames.length === path!.length
    const isFollowed = frames.length < MAX_PATH_NAMES
    if (!frame) {
      this.root = character === '[' ? 'list' : 'object'
      this.rootLine = this.line
      if (character !== '[' && character !== '{') throw this.unexpected(character, 'an array should begin')
    }
    if (isAtPath) this.at = kindOf(character)
    if (character === '{') {
      if (!isFollowed || (frame && !frame.isObject && !isOnPath)) this.beginSkip(1)
      else this.open(true, isOnPath)
    } else if (character === '[') {
      if (isFollowed && isOnPath && !isAtPath) this.open(false, isOnPath)
      else {
        this.isAtPath = isAtPath
        this.gap = ''
        this.expected = 'element'
      }
    } else if (character === '"') this.beginText(frames.length === 1 && frame!.key === 'type' ? 'type' : 'value')
    else if (SCALAR_START.test(character)) this.mode = 'scalar'
    else throw this.unexpected(character, 'a value should begin')
  }

  /** Takes the first element of a list. */
  private takeElement(character: string): boolean {
    // Elements of the document itself may be anything, since each row has its own error.
    if (this.isAtPath && (this.frames.length === 0 || '{]n'.includes(character))) {
      for (const frame of this.frames) frame.isAround = true
      this.expectNext()
      return true
    }
    if (this.isAtPath) this.at = `a list, whose first element is ${kindOf(character)}`
    this.note(character, this.frames)
    if (character === ']') this.expectNext()
    else this.beginSkip('{['.includes(character) ? 2 : 1, character === '"')
    return false
  }

  /** Notes a list by its first character. */
  private note(character: string, frames: readonly Frame[]): void {
    if (character !== '{' && character !== ']') return
    const path = frames.map(({ key }) => key)
    const isNamed = path.every(key => key !== undefined)
    if (character === ']') {
      if (isNamed) this.emptyList ??= path
      return
    }
    this.listCount++
    if (isNamed && this.lists.length < MAX_LISTS) this.lists.push(path)
  }

  private leadsToList(): boolean {
    const { path, frames } = this
    if (!path || frames.length > path.length) return false
    const frame = frames.at(-1)
    return !frame || (frame.isOnPath && frame.key === path[frames.length - 1])
  }

  private open(isObject: boolean, isOnPath: boolean): void {
    this.frames.push({ isObject, isOnPath, key: isObject ? undefined : '0', isAround: false })
    this.expected = isObject ? 'nameOrEnd' : 'valueOrEnd'
  }

  private close(): void {
    this.frames.pop()
    this.expectNext()
  }

  private expectNext(): void {
    this.mode = 'between'
    this.expected = this.frames.length === 0 ? 'nothing' : 'commaOrEnd'
  }

  private beginSkip(depth: number, isInText = false): void {
    this.mode = 'skip'
    this.depth = depth
    this.isInText = isInText
    this.isEscaped = false
  }

  private beginText(what: 'name' | 'type' | 'value'): void {
    this.mode = 'text'
    this.isName = what === 'name'
    this.isEscaped = false
    this.raw = what === 'value' ? undefined : ''
  }

  /** Skips the rest of a list or an object. As in a list of rows, a text ends at the end of its line at the latest. */
  private skip(part: string, start: number): number {
    let i = start
    while (i < part.length) {
      if (this.isEscaped) {
        this.isEscaped = false
        if (part[i] !== '\n') i++
      }
      const sign = this.isInText ? TEXT_SIGN : SKIPPED_SIGN
      sign.lastIndex = i
      if (!sign.test(part)) return part.length
      i = sign.lastIndex
      const character = part[i - 1]!
      if (character === '\n') {
        this.line++
        this.isInText = false
      } else if (character === '\\') this.isEscaped = true
      else if (character === '"') this.isInText = !this.isInText
      else if (character === '[' || character === '{') this.depth++
      else if (--this.depth === 0) {
        this.expectNext()
        return i
      }
    }
    return i
  }

  private readText(part: string, start: number): number {
    let i = start
    while (i < part.length) {
      if (this.isEscaped && part[i] !== '\n') {
        this.isEscaped = false
        this.keep(part[i]!)
        i++
      }
      TEXT_SIGN.lastIndex = i
      const isFound = TEXT_SIGN.test(part)
      const end = isFound ? TEXT_SIGN.lastIndex - 1 : part.length
      this.keep(part.slice(i, end))
      if (!isFound) return part.length
      i = end + 1
      if (part[end] === '\n') throw this.wrong('a text does not end on its line')
      if (part[end] === '"') {
        this.endText()
        return i
      }
      this.keep('\\')
      this.isEscaped = true
    }
    return i
  }

  private keep(text: string): void {
    if (this.raw === undefined) return
    this.raw = this.raw.length + text.length > MAX_PATH_LENGTH ? undefined : this.raw + text
  }

  private endText(): void {
    const text = this.raw?.includes('\\') ? this.unescape(this.raw) : this.raw
    if (this.isName) {
      this.frames.at(-1)!.key = text
      this.mode = 'between'
      this.expected = 'colon'
      return
    }
    if (this.raw !== undefined) this.type ??= text
    this.expectNext()
  }

  private unescape(raw: string): string {
    try {
      return JSON.parse(`"${raw}"`) as string
    } catch {
      throw this.wrong(`"${raw.slice(0, 80)}" is not a text of JSON`)
    }
  }

  private readScalar(part: string, start: number): number {
    SCALAR_END.lastIndex = start
    if (!SCALAR_END.test(part)) return part.length
    this.expectNext()
    return SCALAR_END.lastIndex - 1
  }

  private unexpected(character: string, what: string): InputError {
    return this.wrong(`${JSON.stringify(character)} where ${what}`)
  }

  private wrong(what: string): InputError {
    this.isWrong = true
    return new InputError(`line ${this.line}: ${what}`)
  }
}

export const NDJSON = '; for an object on each line give --format ndjson'

const SKIPPED_SIGN = /["[\]{}\n]/g
const TEXT_SIGN = /["\\\n]/g
const SCALAR_START = /[-\dtfn]/
const SCALAR_END = /[\s,\]}]/g

/** Kind of the value that begins with a character. */
function kindOf(character: string): string {
  if (character === '{') return 'an object'
  if (character === '[') return 'a list'
  if (character === '"') return 'a text'
  if (character === 'n') return 'null'
  return character === 't' || character === 'f' ? 'a boolean' : 'a number'
}
