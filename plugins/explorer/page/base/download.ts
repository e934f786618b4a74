/** Files that are created in the browser. */

/** Offers a file to the user for saving. */
export function download(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  saveAs(address, name)
  // The browser reads the address after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

/** Makes the browser save the answer of an address. */
export function saveAs(address: string, name: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
}

/** Properties of style sheets that become attributes in the file. */
const STYLES = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'font-family',
  'font-size',
  'font-weight',
  'text-anchor',
  'opacity',
  'paint-order',
]

interface Part {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A picture, or a part of it, as a standalone file: styles become attributes, and the background is painted. */
export function standaloneSvg(picture: SVGSVGElement, part?: Part): string {
  const copy = picture.cloneNode(true) as SVGSVGElement
  const originals = picture.querySelectorAll<SVGElement>('*')
  for (const [i, element] of copy.querySelectorAll('*').entries()) {
    const style = getComputedStyle(originals[i]!)
    for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name))
  }
  // Programs that show the file cannot follow links of this page.
  for (const link of copy.querySelectorAll('a')) link.removeAttribute('href')
  const { width, height } = picture.getBoundingClientRect()
  const area = part ?? { x: 0, y: 0, width, height }
  setAttributes(copy, {
    xmlns: 'http://www.w3.org/2000/svg',
    width: area.width,
    height: area.height,
    viewBox: `${area.x} ${area.y} ${area.width} ${area.height}`,
  })
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  setAttributes(ground, { ...area, fill: colourOf('--ground') })
  copy.prepend(ground)
  return new XMLSerializer().serializeToString(copy)
}

function setAttributes(element: Element, attributes: Readonly<Record<string, string | number>>): void {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
}

/** The picture inside an element, an SVG, a canvas or a table with bars, as PNG. */
export async function pngOf(element: HTMLElement): Promise<Blob> {
  const table = element.querySelector<HTMLTableElement>('table.frequent')
  const drawn = table ? drawnTable(table) : element.querySelector('canvas')
  const source = drawn ?? (await imageOf(element.querySelector('svg')!))
  // A canvas already has device pixels.
  const scale = drawn ? 1 : 2
  const canvas = document.createElement('canvas')
  canvas.width = source.width * scale
  canvas.height = source.height * scale
  const context = canvas.getContext('2d')!
  context.fillStyle = colourOf('--ground')
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(source, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve, reject) =>
    canvas.toBlob(blob => (blob ? resolve(blob) : reject(new Error('the picture could not be made')))),
  )
}

/** Draws a table as it is on the page: its texts, and its bars, which are the elements with a background of their own. */
function drawnTable(table: HTMLTableElement): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  const { x: left, y: top, width, height } = table.getBoundingClientRect()
  canvas.width = Math.ceil(width) * TABLE_SCALE
  canvas.height = Math.ceil(height) * TABLE_SCALE
  const context = canvas.getContext('2d')!
  context.scale(TABLE_SCALE, TABLE_SCALE)
  context.textBaseline = 'middle'
  for (const element of table.querySelectorAll('caption, th, td, td > span')) {
    const { font, color, backgroundColor, textAlign, paddingLeft, paddingRight } = getComputedStyle(element)
    const box = element.getBoundingClientRect()
    const [x, y] = [box.x - left, box.y - top]
    if (element.localName === 'span') {
      context.fillStyle = backgroundColor
      context.fillRect(x, y, box.width, box.height)
    } else {
      const isRight = textAlign === 'right' || textAlign === 'end'
      context.font = font
      context.fillStyle = color
      context.textAlign = isRight ? 'right' : 'left'
      const at = isRight ? x + box.width - Number.parseFloat(paddingRight) : x + Number.parseFloat(paddingLeft)
      if (!element.querySelector('span')) context.fillText(element.textContent, at, y + box.height / 2)
    }
  }
  return canvas
}

const TABLE_SCALE = 2

async function imageOf(picture: SVGSVGElement): Promise<HTMLImageElement> {
  const address = URL.createObjectURL(new Blob([standaloneSvg(picture)], { type: 'image/svg+xml' }))
  const image = new Image()
  image.src = address
  await image.decode()
  URL.revokeObjectURL(address)
  return image
}

/** A theme colour in the form that canvases accept. */
export function colourOf(name: string): string {
  const probe = document.createElement('i')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
