import t from 'tap'
import { fileOfFrame } from '../../../../engine/base/stack-frame.ts'

const frames: readonly [line: string, file: string | undefined][] = [
  ['    at run (/home/ada/plugin.ts:1:2)', '/home/ada/plugin.ts'],
  ['    at run (/home/ada/a folder (old)/plugin.ts:1:2)', '/home/ada/a folder (old)/plugin.ts'],
  ['    at /home/ada/a folder/plugin.ts:1:2', '/home/ada/a folder/plugin.ts'],
  ['    at async Promise.all (index 0)', undefined],
  ['    at async /home/ada/plugin.ts:10:20', '/home/ada/plugin.ts'],
  ['    at new Thing (file:///home/ada/a%20folder/plugin.ts:1:2)', '/home/ada/a folder/plugin.ts'],
  ['    at run (file://host/plugin.ts:1:2)', process.platform === 'win32' ? '\\\\host\\plugin.ts' : undefined],
  ['    at run (node:fs:1:2)', undefined],
  ['Error: at run (/home/ada/plugin.ts:1:2)', undefined],
  [' '.repeat(100_000), undefined],
]

t.test('files of the lines of a stack trace', async t => {
  for (const [line, file] of frames) t.equal(fileOfFrame(line), file, line.slice(0, 80))
})
