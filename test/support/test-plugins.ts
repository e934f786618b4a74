import { join } from 'node:path'

/** Plugins in `plugins/`, for the config. TypeScript, as an author may leave it. */
const plugin = (name: string): string => join(process.cwd(), `test/support/plugins/${name}/index.ts`)

export const staffPlugin = plugin('staff')
export const hookedPlugin = plugin('hooked')
export const restrictedPlugin = plugin('restricted')
export const hiddenCompaniesPlugin = plugin('hidden-companies')
export const mirroredPlugin = plugin('mirrored')
export const abusePlugin = plugin('abuse')
export const visitsPlugin = plugin('visits')
export const guardedPlugin = plugin('guarded')
export const matrixPlugin = plugin('matrix')
export const shelvesPlugin = plugin('shelves')
export const passagesPlugin = plugin('passages')
export const notedPlugin = plugin('noted')
export const watchedPlugin = plugin('watched')
export const loudPlugin = plugin('loud')
export const declaredPlugin = plugin('declared')
export const waitingPlugin = plugin('waiting')
export const queuedPlugin = plugin('queued')
export const streamingPlugin = plugin('streaming')
export const shopPlugin = plugin('shop')
