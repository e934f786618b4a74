import { freeName } from '../../../engine/base/text/free-name.ts'
import { nameProblem } from '../../../engine/index.ts'

const MAX_LENGTH = 80

/** Names that are in use in one scope of a model. */
export class Names {
  private readonly usedNames = new Set<string>()

  has(name: string): boolean {
    return this.usedNames.has(name)
  }

  /**
   * Returns a valid name, as close to the preferred name as possible: that name itself, if it is legal and free.
   * @param fallback used for a name without a letter or digit
   */
  take(preferredName: string, fallback: string): string {
    const legal = legalName(preferredName, fallback)
    const name = freeName(legal, each => this.usedNames.has(each), '_')
    this.usedNames.add(name)
    return name
  }
}

function legalName(preferredName: string, fallback: string): string {
  if (nameProblem(preferredName) === undefined) return preferredName
  const plainName = preferredName
    .toWellFormed()
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}_]+/gu, '_')
    .slice(0, MAX_LENGTH)
    .toWellFormed()
    .replace(/^_{2,}/, '_')
    .replace(/^(?=[\p{N}\p{M}])/u, '_')
  const candidate = /[\p{L}\p{N}]/u.test(plainName) ? plainName : fallback
  // The name is a keyword of the query language.
  return nameProblem(candidate) === undefined ? candidate : `${candidate}_`
}
