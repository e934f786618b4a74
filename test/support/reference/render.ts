/**
 * A condition as a client might write it: any spelling of comparators, literal values or placeholders, and blanks where
 * they are needed and where they are not. Source: protocol notes, 2.2, 2.3, 2.7 and 2.11.
 */
import type { Comparator, Condition, OperandValue, Step } from './condition.ts'
import type { Random } from '../base/random.ts'
import { type ClassSpec, follow, type StorageSpec, type World } from './world.ts'

export interface Rendered {
  filter: string
  /** JSON text of `$params`, or undefined. */
  params: string | undefined
}

const SPELLINGS: Record<Comparator, string[]> = {
  equal: ['=', '=', '==', 'like', 'eq', 'LIKE'],
  notEqual: ['!=', '!=', '#', '= not', '== NOT', 'like not'],
  is: ['===', 'is', 'eqeq', 'IS'],
  isNot: ['!==', '##', 'isnot', 'nene', 'is not', '=== not', 'IS NOT'],
  less: ['<', '<', 'lt'],
  lessOrEqual: ['<=', 'lte', 'lteq'],
  greater: ['>', '>', 'gt'],
  greaterOrEqual: ['>=', 'gte', 'GTEQ'],
  begin: ['begin', 'BEGIN'],
  in: ['in', 'IN'],
  keyword: ['%', '%%'],
}
const CONJUNCTIONS = {
  and: ['and', 'AND', '&', '&&', 'And'],
  or: ['or', 'OR', '|', '||'],
  except: ['except', 'EXCEPT', '^'],
}

export function render(random: Random, world: World, dataClass: ClassSpec, condition: Condition): Rendered {
  const params: string[] = []
  const placeholder = (json: string): string => {
    params.push(json)
    return `:${params.length}`
  }
  const tokens: string[] = []
  const write = (node: Condition): void => {
    switch (node.kind) {
      case 'and':
      case 'or':
      case 'except':
        write(node.left)
        tokens.push(random.pick(CONJUNCTIONS[node.kind]))
        write(node.right)
        return
      case 'not':
        tokens.push(random.pick(['not', 'NOT', '!']))
        write(node.operand)
        return
      case 'group':
        tokens.push('(')
        write(node.inner)
        tokens.push(')')
        return
      case 'truth':
        tokens.push(pathText(node.path))
        return
      case 'comparison': {
        const path = pathText(node.path)
        // A placeholder takes names literally: brackets would be a part of them.
        tokens.push(!/[[{]/.test(path) && random.chance(0.05) ? placeholder(JSON.stringify(path)) : path)
        tokens.push(...random.pick(SPELLINGS[node.comparator]).split(' '))
        const values = new ValueText(random, placeOf(world, dataClass, node.path))
        if (node.operand.kind === 'null') tokens.push(random.pick(['null', 'null', 'NULL']))
        else if (node.operand.kind === 'list') {
          const list = random.chance(0.5) ? values.list(node.operand.values) : undefined
          tokens.push(list ?? placeholder(`[${node.operand.values.map(value => values.json(value))}]`))
        } else
          tokens.push(
            (random.chance(0.6) ? values.literal(node.operand.value) : undefined) ??
              placeholder(values.json(node.operand.value)),
          )
      }
    }
  }
  write(condition)
  return { filter: join(random, tokens), params: params.length > 0 ? `[${params}]` : undefined }
}

const pathText = (path: Step[]): string =>
  path
    .map(
      ({ name, classIndex, element }) =>
        name + (classIndex === undefined ? '' : `{${classIndex}}`) + (element === undefined ? '' : `[${element}]`),
    )
    .join('.')

/** Place that decides how a value is written: the attribute at the end of the path, and its property if one is named. */
interface Place {
  attribute: StorageSpec | undefined
  property: string | undefined
}

function placeOf(world: World, dataClass: ClassSpec, path: Step[]): Place {
  const { attribute, properties } = follow(world, dataClass, path)
  return {
    attribute: attribute.kind === 'storage' ? attribute : undefined,
    property: properties.length > 0 ? properties.map(({ name }) => name).join('.') : undefined,
  }
}

/** Spellings of one value. */
class ValueText {
  private readonly type: string
  private readonly simpleDate: boolean
  /** True for an object, whose property has no known type: a quoted value is a text, another may be a number. */
  private readonly untyped: boolean

  constructor(
    private readonly random: Random,
    { attribute, property }: Place,
  ) {
    const declared = property === undefined ? undefined : attribute?.properties?.[property]
    this.type = declared?.type ?? attribute?.type ?? 'string'
    this.simpleDate = attribute?.simpleDate ?? false
    this.untyped = attribute?.type === 'object' && declared === undefined
  }

  /** Literal in a query, or undefined if the value cannot be written there. */
  literal(value: OperandValue): string | undefined {
    const text = this.text(value)
    const bare = BARE.test(text) && !RESERVED.test(text)
    if (this.type === 'date' || this.type === 'duration')
      return text.includes('!') || this.random.chance(0.4) ? `'${text}'` : text
    if (typeof value !== 'string') return text
    if (NUMERIC_TYPES.has(this.type) && !this.untyped) return this.random.chance(0.8) ? text : `'${text}'`
    const looksLikeJson = this.untyped && !Number.isNaN(Number(text))
    return this.random.pick([
      bare && !looksLikeJson && text !== '' ? text : undefined,
      text.includes("'") || text.includes('\\') ? undefined : `'${text}'`,
      text.includes('"') || text.includes('\\') ? undefined : `"${text}"`,
      text.includes('\\') ? undefined : `'${text.replaceAll("'", '\\u0027').replaceAll('"', '\\u0022')}'`,
      /["\\]/.test(text) ? undefined : `\\u0022${text}\\u0022`,
      /['\\]/.test(text) ? undefined : `\\u0027${text}\\u0027`,
    ])
  }

  /** List in square brackets: texts in double quotes. */
  list(values: OperandValue[]): string | undefined {
    const isText = (value: OperandValue) =>
      this.type === 'date' || (typeof value === 'string' && (this.untyped || !NUMERIC_TYPES.has(this.type)))
    const texts = values.map(value => (isText(value) ? `"${this.text(value)}"` : this.text(value)))
    if (values.some(value => /["\\]/.test(this.text(value)))) return undefined
    return `[${texts.join(this.random.pick([',', ', ', ' , ']))}]`
  }

  /** Element of `$params`. */
  json(value: OperandValue): string {
    if (typeof value === 'string' && NUMERIC_TYPES.has(this.type) && !this.untyped) {
      const number = Number(value)
      // A JSON number is a double: any other number is sent as a text.
      return Number.isSafeInteger(number) || this.type === 'number' || this.type === 'float'
        ? this.random.pick([String(number), JSON.stringify(value)])
        : /^-?\d{1,15}(\.\d)?$/.test(value)
          ? value
          : JSON.stringify(value)
    }
    if (this.type === 'date' || this.type === 'uuid') return JSON.stringify(this.text(value))
    if (this.type === 'duration') return this.random.chance(0.7) ? String(value) : JSON.stringify(this.text(value))
    return JSON.stringify(value)
  }

  private text(value: OperandValue): string {
    if (this.type === 'date') return this.dateText(value as number)
    if (this.type === 'duration') return this.durationText(value as number)
    if (this.type === 'uuid') return this.uuidText(value as string)
    if (this.type === 'bool' && this.random.chance(0.1)) return value ? '1' : '0'
    return String(value)
  }

  private dateText(ms: number): string {
    const iso = new Date(ms).toISOString()
    const [year, month, day] = [iso.slice(0, 4), iso.slice(5, 7), iso.slice(8, 10)]
    const dates = [iso.slice(0, 10), `${day}!${month}!${year}`, `${Number(day)}!${Number(month)}!${year}`]
    // Only the day as written counts, whatever the time and the offset.
    const times = ['T17:30:00Z', 'T23:30:00-05:00', 'T00:30:00+02:00', 'T23:59:59.999+14:00']
    if (this.simpleDate) return this.random.pick([...dates, iso.slice(0, 10) + this.random.pick(times)])
    if (ms % 86_400_000 === 0) return this.random.pick([...dates, iso])
    return ms % 1_000 === 0 ? this.random.pick([iso, `${iso.slice(0, 19)}Z`]) : iso
  }

  private durationText(ms: number): string {
    if (ms % 1_000 !== 0 || this.random.chance(0.6)) return String(ms)
    const pad = (n: number) => String(Math.floor(n)).padStart(2, '0')
    return `${pad(ms / 3_600_000)}:${pad((ms / 60_000) % 60)}:${pad((ms / 1_000) % 60)}`
  }

  private uuidText(text: string): string {
    const dashed = text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    return this.random.pick([text, text, text.toLowerCase(), dashed])
  }
}

const NUMERIC_TYPES = new Set(['byte', 'word', 'long', 'long64', 'number', 'float'])
/** Texts that certainly end at the next blank or operator. */
const BARE = /^[\p{L}\p{N}_@.-][\p{L}\p{M}\p{N}_@.:'-]*$/u
const RESERVED = /^(null|true|false|not|eval)$/i

/** Joins tokens with blanks: always where two would run together, otherwise now and then. */
function join(random: Random, tokens: string[]): string {
  let text = ''
  for (const token of tokens) {
    const last = text.at(-1)
    if (last !== undefined) {
      const parenthesis = /[()]/
      const needed =
        !parenthesis.test(last) && !parenthesis.test(token[0]!) && OPERATOR.test(last) === OPERATOR.test(token[0]!)
      if (needed || random.chance(0.7)) text += random.pick([' ', ' ', '  ', '\n', '\t'])
    }
    text += token
  }
  return text
}

const OPERATOR = /[<>=#&^|%!]/
