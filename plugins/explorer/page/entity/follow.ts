import { linkWith, place } from '../base/place.ts'
import { readTrail, writeTrail } from './trail.ts'

/** A link that shows another entity in the panel. */
export const linkToNext = (dataClass: string, key: string): string =>
  linkWith({ trail: writeTrail([...readTrail(place.value.query.trail), { dataClass, key }]), edit: undefined })
