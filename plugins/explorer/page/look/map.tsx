import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { addCondition, within } from '../base/condition.ts'
import { colourOf, download, pngOf } from '../base/download.ts'
import { change, place } from '../base/place.ts'
import { selection } from '../base/selection.ts'
import { number } from '../base/texts.ts'
import { complain } from '../base/work.ts'
import { Fault } from '../components/fault.tsx'
import { useAnswer } from '../components/use-answer.ts'
import { Waiting } from '../components/waiting.tsx'
import { theme } from '../shell/theme.ts'
import { niceStep } from './bins.ts'
import { isNumber } from './figures.ts'
import {
  areaBetween,
  coordinatesOf,
  degreesBetween,
  enlargeView,
  type GeoPoint,
  latitudeAt,
  longitudeAt,
  type MapView as View,
  moveView,
  nearest,
  type Size,
  viewOf,
  xOf,
  yOf,
} from './map-view.ts'
import { PathPicker } from './path-picker.tsx'
import { loadPoints } from './points.ts'
import { text } from './texts.ts'
import { useWidth } from './use-width.ts'

const HEIGHT = 480
const ZOOM = 1.5
/** Maximum distance in pixels between the pointer and a point that it hits. */
const REACH = 9
const MIN_DRAG = 4
const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-60, 0],
  ArrowRight: [60, 0],
  ArrowUp: [0, -60],
  ArrowDown: [0, 60],
}
const NO_POINTS: readonly GeoPoint[] = []

/** Entities of the selection on a map. The attributes of their coordinates are in the address: `lat` and `lon`. */
export function MapView() {
  const currentSelection = selection.value!
  const { dataClass, filter, set, similar } = currentSelection
  const numbers = dataClass.attributes.filter(isNumber)
  const detected = coordinatesOf(numbers)
  const latitude = place.value.query.lat ?? detected?.latitude ?? numbers[0]!.name
  const longitude = place.value.query.lon ?? detected?.longitude ?? numbers[1]!.name
  const answer = useAnswer(
    (signal, report) => loadPoints(currentSelection, latitude, longitude, signal, report),
    [dataClass, filter, set, similar, latitude, longitude],
  )
  const { result, error } = answer
  const points = result?.points ?? NO_POINTS
  const frame = useRef<HTMLDivElement>(null)
  const width = useWidth(frame)
  const size: Size = { width, height: HEIGHT }
  const view = useSignal<View>(viewOf(points, size))
  const isChoosing = useSignal(false)
  const fit = (): void => {
    view.value = viewOf(points, size)
  }
  useEffect(fit, [result, width])
  const zoom = (factor: number): void => {
    view.value = enlargeView(view.value, size, factor)
  }
  const narrow = (a: readonly [number, number], b: readonly [number, number]): void => {
    const { south, north, west, east } = areaBetween(view.value, size, a, b)
    // Matches the precision of a pixel.
    const digits = Math.max(0, Math.ceil(Math.log10(view.value.scale)))
    const rounded = (degrees: number): number => Number(degrees.toFixed(digits))
    const condition = `${within(latitude, rounded(south), rounded(north))} and ${within(longitude, rounded(west), rounded(east))}`
    change({ filter: addCondition(filter, condition) })
  }
  const picker = (label: string, name: 'lat' | 'lon', path: string) => (
    <div class="field">
      <span aria-hidden="true">{label}</span>
      <PathPicker
        label={label}
        dataClass={dataClass}
        path={path}
        isOffered={isNumber}
        onPick={picked => change({ [name]: picked })}
      />
    </div>
  )
  return (
    <>
      <div class="controls">
        {picker(text('latitude'), 'lat', latitude)}
        {picker(text('longitude'), 'lon', longitude)}
        <span class="gap" />
        <button
          type="button"
          aria-pressed={isChoosing.value}
          onClick={() => {
            isChoosing.value = !isChoosing.value
          }}
        >
          {text('choose')}
        </button>
        <button type="button" onClick={() => narrow([0, 0], [width, HEIGHT])}>
          {text('narrow')}
        </button>
        <button type="button" aria-label={text('zoomOut')} title={text('zoomOut')} onClick={() => zoom(1 / ZOOM)}>
          −
        </button>
        <button type="button" aria-label={text('zoomIn')} title={text('zoomIn')} onClick={() => zoom(ZOOM)}>
          +
        </button>
        <button type="button" onClick={fit}>
          {text('fit')}
        </button>
        <button
          type="button"
          disabled={points.length === 0}
          onClick={() => void pngOf(frame.current!).then(png => download(png, `${dataClass.name}-map.png`), complain)}
        >
          {text('png')}
        </button>
      </div>
      <Waiting label={text('loading')} {...answer}>
        {result && sentenceOf(result)}
      </Waiting>
      {error !== undefined && <Fault error={error} again={answer.again} />}
      <div class="map" ref={frame}>
        {width > 0 && (
          <Canvas points={points} size={size} view={view} isChoosing={isChoosing.value} onFit={fit} onNarrow={narrow} />
        )}
      </div>
      <p class="hint">{text('mapHelp')}</p>
    </>
  )
}

function sentenceOf({ points, count, total }: Awaited<ReturnType<typeof loadPoints>>): string {
  const pointsText = text('points', { count: points.length })
  const missingCount = count - points.length
  return [
    count < total ? text('sample', { shown: pointsText, total }) : pointsText,
    missingCount > 0 ? text('withoutPlace', { count: missingCount }) : '',
  ].join(' ')
}

interface CanvasProps {
  readonly points: readonly GeoPoint[]
  readonly size: Size
  readonly view: { value: View }
  /** True if the mouse draws a rectangle; otherwise it moves the map. */
  readonly isChoosing: boolean
  readonly onFit: () => void
  readonly onNarrow: (a: readonly [number, number], b: readonly [number, number]) => void
}

type Pixel = readonly [number, number]

function Canvas({ points, size, view, isChoosing, onFit, onNarrow }: CanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const start = useRef<{ at: Pixel; last: Pixel; isDrag: boolean } | undefined>(undefined)
  const rectangle = useSignal<readonly [Pixel, Pixel] | undefined>(undefined)
  const { result: coast } = useAnswer(loadCoast, [])
  const { width, height } = size
  useEffect(() => {
    draw(canvas.current!, points, coast ?? [], view.value, size)
  }, [points, coast, view.value, width, theme.value])
  const pixelOf = ({ clientX, clientY }: MouseEvent): Pixel => {
    const { x, y } = canvas.current!.getBoundingClientRect()
    return [clientX - x, clientY - y]
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = MOVES[event.key]
    if (by) view.value = moveView(view.value, ...by)
    else if (event.key === '+') view.value = enlargeView(view.value, size, ZOOM)
    else if (event.key === '-') view.value = enlargeView(view.value, size, 1 / ZOOM)
    else if (event.key === '0') onFit()
    else return
    event.preventDefault()
  }
  const box = rectangle.value
  return (
    <div
      role="application"
      aria-label={text('map')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard moves what it shows
      tabIndex={0}
      class={isChoosing ? 'choosing' : undefined}
      onKeyDown={onKeyDown}
      onWheel={event => {
        event.preventDefault()
        view.value = enlargeView(view.value, size, 0.9985 ** event.deltaY, ...pixelOf(event))
      }}
      onPointerDown={event => {
        if (event.button !== 0) return
        const at = pixelOf(event)
        start.current = { at, last: at, isDrag: false }
      }}
      onPointerMove={event => {
        const at = pixelOf(event)
        const from = start.current
        if (!from) {
          const isNear = nearest(points, view.value, size, ...at, REACH) !== undefined
          canvas.current!.style.cursor = isNear ? 'pointer' : ''
          return
        }
        if (!from.isDrag && Math.hypot(at[0] - from.at[0], at[1] - from.at[1]) < MIN_DRAG) return
        event.currentTarget.setPointerCapture(event.pointerId)
        if (isChoosing || event.shiftKey) rectangle.value = [from.at, at]
        else view.value = moveView(view.value, from.last[0] - at[0], from.last[1] - at[1])
        start.current = { ...from, last: at, isDrag: true }
      }}
      onPointerUp={event => {
        const from = start.current
        start.current = undefined
        rectangle.value = undefined
        if (box) onNarrow(...box)
        else if (from && !from.isDrag) {
          const point = nearest(points, view.value, size, ...pixelOf(event), REACH)
          if (point) change({ entity: point.key })
        }
      }}
      onPointerCancel={() => {
        start.current = undefined
        rectangle.value = undefined
      }}
    >
      <canvas ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} />
      {box && (
        <div
          class="rectangle"
          style={{
            left: `${Math.min(box[0][0], box[1][0])}px`,
            top: `${Math.min(box[0][1], box[1][1])}px`,
            width: `${Math.abs(box[0][0] - box[1][0])}px`,
            height: `${Math.abs(box[0][1] - box[1][1])}px`,
          }}
        />
      )}
    </div>
  )
}

/** Outlines of land, each a list of alternating longitudes and latitudes. */
async function loadCoast(signal: AbortSignal): Promise<number[][]> {
  const response = await fetch('coast.json', { signal })
  const rings = (await response.json()) as number[][]
  return rings.map(ring => {
    const places: number[] = []
    for (let i = 0; i < ring.length; i += 2) {
      places.push((places[i - 2] ?? 0) + ring[i]! / 10, (places[i - 1] ?? 0) + ring[i + 1]! / 10)
    }
    return places
  })
}

function draw(
  canvas: HTMLCanvasElement,
  points: readonly GeoPoint[],
  coast: readonly (readonly number[])[],
  view: View,
  size: Size,
): void {
  const { width, height } = size
  const ratio = devicePixelRatio
  canvas.width = Math.round(width * ratio)
  canvas.height = Math.round(height * ratio)
  const context = canvas.getContext('2d')!
  context.scale(ratio, ratio)
  const [land, line, faint, accent] = ['--raised', '--line', '--faint', '--accent'].map(colourOf) as [
    string,
    string,
    string,
    string,
  ]
  context.fillStyle = land
  context.strokeStyle = line
  for (const ring of coast) {
    context.beginPath()
    for (let i = 0; i < ring.length; i += 2) context.lineTo(xOf(view, size, ring[i]!), yOf(view, size, ring[i + 1]!))
    context.closePath()
    context.fill()
    context.stroke()
  }
  drawGraticule(context, view, size, line, faint)
  const side = points.length > 2_000 ? 2 : points.length > 200 ? 3 : 5
  context.fillStyle = accent
  context.globalAlpha = points.length > 2_000 ? 0.55 : 0.85
  for (const { latitude, longitude } of points) {
    context.fillRect(xOf(view, size, longitude) - side / 2, yOf(view, size, latitude) - side / 2, side, side)
  }
}

function drawGraticule(context: CanvasRenderingContext2D, view: View, size: Size, line: string, faint: string): void {
  const { width, height } = size
  const [west, east] = [longitudeAt(view, size, 0), longitudeAt(view, size, width)]
  const [south, north] = [latitudeAt(view, size, height), latitudeAt(view, size, 0)]
  const step = niceStep(north - south, 6)
  context.strokeStyle = line
  context.fillStyle = faint
  context.font = '11px system-ui, sans-serif'
  context.lineWidth = 0.5
  context.beginPath()
  for (const degrees of degreesBetween(Math.max(-90, south), Math.min(90, north), step)) {
    const y = yOf(view, size, degrees)
    context.moveTo(0, y)
    context.lineTo(width, y)
    context.fillText(`${number(degrees)}°`, 4, y - 3)
  }
  for (const degrees of degreesBetween(Math.max(-180, west), Math.min(180, east), step)) {
    const x = xOf(view, size, degrees)
    context.moveTo(x, 0)
    context.lineTo(x, height)
    context.fillText(`${number(degrees)}°`, x + 3, height - 4)
  }
  context.stroke()
}
