import { linkWith, place } from '../base/place.ts'
import { readTrail, writeTrail } from './trail.ts'

/** A link that shows a further entity in the panel. */
export const linkToNext = (dataClass: string, key: string): string =>
  linkWith({ trail: writeTrail([...readTrail(place.value.query.trail), { dataClass, key }]), edit: undefined })
