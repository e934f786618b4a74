import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import type { FunctionClient } from './function-client.ts'
import { ProtocolError } from '../../base/errors.ts'
import { InputError } from '../../base/input-error.ts'
import { areOutdated, nullValues } from '../../catalog/calculated.ts'
import type { Progress } from '../../base/progress.ts'
import type { ReadStore } from '../../data/read-store.ts'
import type { WriterClient } from '../../write/client/writer-client.ts'
import { type CalculatedSlice, nextSlice } from '../hooks/calculate.ts'
import type { HookedClasses } from '../hooks/hooked-classes.ts'

interface CalculateOptions {
  readonly catalog: Catalog
  readonly data: ReadStore
  readonly writer: WriterClient
  readonly hooked: HookedClasses
  /** Undefined: there is no plugin code. */
  readonly code: FunctionClient | undefined
  readonly onProgress?: Progress | undefined
}

/** Recomputes stored calculated attributes whose code has changed. */
export async function calculateOutdated(options: CalculateOptions): Promise<void> {
  const { catalog, data, hooked, code, onProgress } = options
  for (const dataClass of catalog.dataClasses) {
    if (!areOutdated(data.records.fingerprints(dataClass.tableNumber), dataClass)) continue
    const hasCode = hooked.storedAttributes(dataClass).length > 0
    for (let done = 0, isOver = false; !isOver; ) {
      const work = hasCode ? code!.calculate(dataClass.name, done) : clear(dataClass, done, options)
      const slice = await work.catch(error => {
        throw error instanceof ProtocolError ? notStored(dataClass, error) : error
      })
      ;({ done } = slice)
      isOver = done >= slice.total
      onProgress?.({ dataClass: dataClass.name, what: 'calculate', ...slice })
    }
  }
}

const notStored = ({ name }: DataClass, cause: ProtocolError): InputError =>
  new InputError(`${name}: values that its code calculates cannot be stored: ${cause.message}`, { cause })

/** Clears the values of attributes whose code is gone. */
async function clear(dataClass: DataClass, from: number, { data, writer }: CalculateOptions): Promise<CalculatedSlice> {
  const { request, slice } = data.read(snapshot => nextSlice(dataClass, snapshot, from, () => nullValues(dataClass)))
  await writer.write(request)
  return slice
}
