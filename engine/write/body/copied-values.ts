import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { ProtocolError } from '../../base/errors.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import type { AutomaticSource } from '../value/automatic-value.ts'
import { convertValue } from '../value/convert.ts'
import { violations } from '../value/validate.ts'
import { type CopiedSlot, type Filler, NO_ENTITY, RANDOM } from './copied-slot.ts'
import { viewOf } from './rows-builder.ts'

const ABSENT = 0
const NULL = 1
/** Bytes in the form of a `PlainForm`. */
const COPIED = 2
/** A value that was converted, and its JSON. */
const CONVERTED = 3

export interface CopyOptions extends AutomaticSource {
  /** See `SaveRequest.trusted`. */
  readonly trusted: boolean
  /** True if an element without a key gets an automatic number as its key. */
  readonly numbersKeys: boolean
}

/** Values of one element after the other, by slot: ranges of bytes as far as possible. */
export class CopiedValues {
  /** The bytes of the element, and others. */
  source: Buffer = Buffer.alloc(0)
  view = viewOf(this.source)
  /** Ranges of copied values in {@link source}. */
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  /** JSON of converted values. */
  readonly texts: string[]
  /** True if the element gets an automatic number as its key. */
  isNumbered = false
  private readonly states: Uint8Array
  private readonly values: Value[]

  constructor(
    private readonly layout: RowLayout,
    private readonly slots: readonly CopiedSlot[],
    private readonly options: CopyOptions,
  ) {
    this.states = new Uint8Array(slots.length)
    this.starts = new Uint32Array(slots.length)
    this.ends = new Uint32Array(slots.length)
    this.texts = slots.map(() => '')
    this.values = slots.map(() => null)
  }

  begin(source: Buffer): void {
    if (source !== this.source) {
      this.source = source
      this.view = viewOf(source)
    }
    this.isNumbered = false
    this.states.fill(ABSENT)
  }

  isAbsent(slot: number): boolean {
    return this.states[slot] === ABSENT
  }

  isCopied(slot: number): boolean {
    return this.states[slot] === COPIED
  }

  isConverted(slot: number): boolean {
    return this.states[slot] === CONVERTED
  }

  takeNull(slot: number): void {
    this.states[slot] = NULL
  }

  /** Takes bytes of the source, without quotes. @returns false if they have to be converted */
  takeBytes(slot: number, start: number, end: number): boolean {
    const { form, attribute, isLimited } = this.slots[slot]!.value!
    if (!form?.test(this.source, start, end)) return false
    if (isLimited && violations(attribute, form.value(this.source, start, end)).length > 0) return false
    this.states[slot] = COPIED
    this.starts[slot] = start
    this.ends[slot] = end
    return true
  }

  /** Takes a JSON value. @returns false if it is not valid */
  takeJson(slot: number, json: unknown): boolean {
    const { attribute } = this.slots[slot]!.value!
    const value = convertValue(attribute, json, this.options.trusted)
    if (value instanceof ProtocolError) return false
    if (value === null) this.takeNull(slot)
    else if (violations(attribute, value).length > 0) return false
    else this.convert(slot, value)
    return true
  }

  /** Converts a value, with its JSON. */
  convert(slot: number, value: Value): void {
    this.states[slot] = CONVERTED
    this.values[slot] = value
    this.texts[slot] = this.layout.encoders[slot]!(value, NO_ENTITY)
  }

  /** Completes the element: each slot has a value then, or a filling. @returns false if the element is left to the writer */
  complete(): boolean {
    const { slots, states } = this
    for (let slot = 0; slot < slots.length; slot++) {
      const { value } = slots[slot]!
      if (!value || states[slot]! >= COPIED) continue
      const filler = this.fillerOf(slot)
      if (filler === RANDOM) {
        if (!this.takeJson(slot, this.options.randomUuid())) return false
      } else if (value.isKey) {
        if (!this.completeKey(slot, filler)) return false
      } else if (!filler) return false
    }
    return true
  }

  /** Value of an attribute. */
  get(attribute: StorageAttribute): Value {
    return this.valueIn(this.layout.slotOf.get(attribute)!)
  }

  valueIn(slot: number): Value {
    const state = this.states[slot]
    if (state === CONVERTED) return this.values[slot]!
    if (state !== COPIED) return this.fillingOf(slot)?.value ?? null
    return this.slots[slot]!.value!.form!.value(this.source, this.starts[slot]!, this.ends[slot]!)
  }

  /** Filling of a slot for which the element has no value. */
  fillingOf(slot: number): Exclude<Filler, symbol> {
    const filler = this.fillerOf(slot)
    return filler === RANDOM ? undefined : filler
  }

  private fillerOf(slot: number): Filler {
    const { whenAbsent, whenNull } = this.slots[slot]!.value!
    return this.states[slot] === ABSENT ? whenAbsent : whenNull
  }

  private completeKey(slot: number, filling: Exclude<Filler, symbol>): boolean {
    if (filling && filling.value !== null) this.convert(slot, filling.value)
    // An explicit null prevents the default, and is not a key.
    else if (!this.options.numbersKeys || this.slots[slot]!.value!.attribute.default !== undefined) return false
    else this.isNumbered = true
    return true
  }
}
