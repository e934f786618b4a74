/** Dumps a store or makes one from a dump, and kills itself after some steps of the progress. */
import { undump } from '../../engine/storage/dump/undump.ts'
import { writeDump } from '../../engine/storage/dump/write-dump.ts'
import { MAP } from './dump-world.ts'

const [what, path, folder, steps] = process.argv.slice(2) as [string, string, string, string]
let left = Number(steps)
const onProgress = (): void => {
  if (left-- <= 0) process.kill(process.pid, 'SIGKILL')
}
if (what === 'dump') await writeDump({ path, ...MAP, folder, version: 'test', onProgress })
else await undump({ path, ...MAP, folder, wire: { dateOnlyFormat: 'iso' }, onProgress })
