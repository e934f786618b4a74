import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { hasUndecodable, readBytes, readText } from '../../../../engine/import/read-text.ts'

async function read(path: string): Promise<string> {
  let text = ''
  for await (const part of readText(readBytes(path, () => {}))) text += part
  return text
}

t.test('characters are whole wherever a part of a file ends', async t => {
  const folder = t.testdir()
  for (const character of ['ж', '語', '🌍']) {
    for (const start of ['', '-', '--', '---']) {
      // More than a megabyte without a single ASCII character, and parts that end at each byte of it.
      const text = start + character.repeat(700_000)
      const path = join(folder, 'plain.txt')
      writeFileSync(path, text)
      t.equal((await read(path)) === text, true, `${start}${character}`)
    }
    const text = `-${character.repeat(300_000)}`
    writeFileSync(join(folder, 'packed.txt.gz'), gzipSync(text))
    t.equal((await read(join(folder, 'packed.txt.gz'))) === text, true, `${character}, packed`)
  }
})

t.test('bytes that are not UTF-8 affect their line alone', async t => {
  const path = join(t.testdir(), 'mixed.txt')
  for (const bytes of [[0xe9], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x8c], [0x80, 0x80, 0x80, 0x80], [0xff]]) {
    writeFileSync(path, Buffer.concat([Buffer.from('größe\n'), Buffer.from(bytes), Buffer.from('\nstraße\n')]))
    const [first, second, third] = (await read(path)).split('\n')
    t.same([first, hasUndecodable(second!), third], ['größe', true, 'straße'], bytes.join(' '))
    writeFileSync(path, Buffer.concat([Buffer.from('größe\n'), Buffer.from(bytes)]))
    const [line, last] = (await read(path)).split('\n')
    t.same([line, hasUndecodable(last!)], ['größe', true], `${bytes.join(' ')} at the end`)
  }
})
