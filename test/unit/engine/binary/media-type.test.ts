import t from 'tap'
import { sniffMediaType } from '../../../../engine/binary/media-type.ts'

const UNKNOWN = 'application/octet-stream'
const cases: [content: string | Buffer, mediaType: string][] = [
  [Buffer.from('ffd8ffe000104a46494600', 'hex'), 'image/jpeg'],
  ['GIF89a', 'image/gif'],
  ['RIFF\0\0\0\0WEBPVP8 ', 'image/webp'],
  ['%PDF-1.7', 'application/pdf'],
  ['<svg>', 'image/svg+xml'],
  ['<svg/>', 'image/svg+xml'],
  ['\n <?xml version="1.0"?>\n<!-- <html> --><svg xmlns="http://www.w3.org/2000/svg">', 'image/svg+xml'],
  ['<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd"><svg >', 'image/svg+xml'],
  ['<!DOCTYPE svg [<!ENTITY a "]">]><x:svg>', UNKNOWN],
  ['<!DOCTYPE svg [<!ENTITY a "b">]><x:svg>', 'image/svg+xml'],
  ['<!DOCTYPE html><svg>', UNKNOWN],
  ['<html><svg>', UNKNOWN],
  ['<svgs>', UNKNOWN],
  ['<!-- <svg>', UNKNOWN],
  ['text', UNKNOWN],
  ['', UNKNOWN],
  [Buffer.from('89504e47', 'hex'), UNKNOWN],
]

t.test('the media type is found from the content; unknown content is application/octet-stream', async t => {
  for (const [content, mediaType] of cases) {
    t.equal(await sniffMediaType(Buffer.from(content)), mediaType, String(content))
  }
})

t.test('4,100 bytes of openings that are never closed are read quickly', async t => {
  for (const text of ['<!--', '<?', '<!DOCTYPE svg [', ' ', '<!DOCTYPE svg>', '<?x?>']) {
    t.equal(await sniffMediaType(Buffer.from(text.repeat(4100).slice(0, 4100))), UNKNOWN)
  }
})
