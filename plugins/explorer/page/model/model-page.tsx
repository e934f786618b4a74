import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { catalog } from '../base/catalog.ts'
import { download, standaloneSvg } from '../base/download.ts'
import type { DataClass } from '../base/model.ts'
import { change, go, linkTo, place } from '../base/place.ts'
import { type Box, type Diagram, diagramOf, HEAD, MANY, matchClasses, ROW } from './diagram.ts'
import { type Relation, relationsOf } from './relations.ts'
import { text } from './texts.ts'
import './model.css'

/** The visible part of the diagram. */
interface Window {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const MARGIN = 40
const ZOOM = 1.25
/** Maximum and minimum width of the visible part, in pixels of the diagram. */
const MAX_WIDTH = 60_000
const MIN_WIDTH = 200
/** Minimum width of the visible part around boxes that a search has found. */
const MIN_PART = 900
/** Minimum distance of a drag in pixels; less is a click. */
const MIN_DRAG = 4

/** Dataclasses and relations of the model as a picture. */
export function ModelPage() {
  const dataClasses = catalog.value!.dataClasses
  const { query } = place.value
  const isLarge = dataClasses.length > MANY
  const withAttributes = isLarge ? query.attributes === 'yes' : query.attributes !== 'no'
  const searchText = query.find ?? ''
  const diagram = useMemo(() => diagramOf(dataClasses, withAttributes), [dataClasses, withAttributes])
  const picture = useRef<SVGSVGElement>(null)
  const view = useView(picture, diagram)
  const matches = searchText.trim() === '' ? undefined : matchClasses(dataClasses, searchText)
  useEffect(() => {
    if (matches) view.fit(diagram.boxes.filter(({ dataClass }) => matches.includes(dataClass)))
  }, [searchText, diagram])
  return (
    <section class={`model${isLarge ? ' large' : ''}${withAttributes ? '' : ' plain'}`} aria-label={text('title')}>
      <header>
        <h1>{text('title')}</h1>
        <input
          type="search"
          aria-label={text('find')}
          placeholder={text('find')}
          value={searchText}
          onInput={({ currentTarget }) => change({ find: currentTarget.value }, { replace: true })}
          onKeyDown={({ key }) => {
            if (key === 'Enter' && matches?.[0]) go(linkTo([matches[0].name]))
          }}
        />
        <span role="status" class="hint">
          {matches && text('found', { count: matches.length })}
        </span>
        <label class="check">
          <input
            type="checkbox"
            checked={withAttributes}
            onChange={({ currentTarget }) => change({ attributes: currentTarget.checked ? 'yes' : 'no' })}
          />
          {text('attributes')}
        </label>
        <span class="gap" />
        <button type="button" aria-label={text('zoomOut')} title={text('zoomOut')} onClick={() => view.zoom(ZOOM)}>
          −
        </button>
        <button type="button" aria-label={text('zoomIn')} title={text('zoomIn')} onClick={() => view.zoom(1 / ZOOM)}>
          +
        </button>
        <button type="button" onClick={() => view.fit()}>
          {text('fit')}
        </button>
        <button
          type="button"
          onClick={() =>
            download(
              new Blob([standaloneSvg(picture.current!, allOf(diagram))], { type: 'image/svg+xml' }),
              'model.svg',
            )
          }
        >
          {text('svg')}
        </button>
      </header>
      <Picture {...{ diagram, view, picture, matches }} />
      <p class="hint">{text('help')}</p>
      <details>
        <summary>{text('list')}</summary>
        <ModelList dataClasses={dataClasses} />
      </details>
    </section>
  )
}

const allOf = ({ width, height }: Diagram): Window => ({
  x: -MARGIN,
  y: -MARGIN,
  width: width + 2 * MARGIN,
  height: height + 2 * MARGIN,
})

/** The part that contains some boxes, large enough to show their surroundings. */
function partWith(boxes: readonly Box[]): Window {
  const [left, top] = [Math.min(...boxes.map(({ x }) => x)), Math.min(...boxes.map(({ y }) => y))]
  const width = Math.max(...boxes.map(box => box.x + box.width)) - left
  const height = Math.max(...boxes.map(box => box.y + box.height)) - top
  const marginX = Math.max(MARGIN, (MIN_PART - width) / 2)
  return { x: left - marginX, y: top - MARGIN, width: width + 2 * marginX, height: height + 2 * MARGIN }
}

type View = ReturnType<typeof useView>

/** The visible part of the diagram, moved and zoomed by mouse and keyboard. */
function useView(picture: { readonly current: SVGSVGElement | null }, diagram: Diagram) {
  const part = useSignal<Window>(allOf(diagram))
  useEffect(() => {
    part.value = allOf(diagram)
  }, [diagram])
  /** Pixels of the diagram per pixel of the screen. */
  const scale = (): number => {
    const { width, height } = picture.current!.getBoundingClientRect()
    return Math.max(part.value.width / width, part.value.height / height)
  }
  /** Scales the visible part by a factor, with a fixed point. */
  const zoom = (factor: number, x?: number, y?: number): void => {
    const before = part.value
    const width = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, before.width * factor))
    const real = width / before.width
    const [fixedX, fixedY] = [x ?? before.x + before.width / 2, y ?? before.y + before.height / 2]
    part.value = {
      x: fixedX - (fixedX - before.x) * real,
      y: fixedY - (fixedY - before.y) * real,
      width,
      height: before.height * real,
    }
  }
  /** Moves the visible part by pixels of the screen. */
  const move = (x: number, y: number): void => {
    const by = scale()
    part.value = { ...part.value, x: part.value.x + x * by, y: part.value.y + y * by }
  }
  const centre = ({ x, y, width, height }: Box): void => {
    const before = part.value
    part.value = { ...before, x: x + width / 2 - before.width / 2, y: y + height / 2 - before.height / 2 }
  }
  const fit = (boxes: readonly Box[] = []): void => {
    part.value = boxes.length > 0 ? partWith(boxes) : allOf(diagram)
  }
  const pointAt = ({ clientX, clientY }: MouseEvent): { x: number; y: number } => {
    const box = picture.current!.getBoundingClientRect()
    const by = scale()
    const { x, y, width, height } = part.value
    return {
      x: x + width / 2 + (clientX - box.x - box.width / 2) * by,
      y: y + height / 2 + (clientY - box.y - box.height / 2) * by,
    }
  }
  return { part, zoom, move, centre, fit, pointAt }
}

const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-60, 0],
  ArrowRight: [60, 0],
  ArrowUp: [0, -60],
  ArrowDown: [0, 60],
}

interface PictureProps {
  readonly diagram: Diagram
  readonly view: View
  readonly picture: { current: SVGSVGElement | null }
  /** Undefined without a search. */
  readonly matches: readonly DataClass[] | undefined
}

function Picture({ diagram, view, picture, matches }: PictureProps) {
  const pointed = useSignal<string | undefined>(undefined)
  const dragged = useRef<{ x: number; y: number; isDrag: boolean } | undefined>(undefined)
  const { x, y, width, height } = view.part.value
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = MOVES[event.key]
    if (by) view.move(...by)
    else if (event.key === '+') view.zoom(1 / ZOOM)
    else if (event.key === '-') view.zoom(ZOOM)
    else if (event.key === '0') view.fit()
    else return
    event.preventDefault()
  }
  return (
    <svg
      ref={picture}
      aria-label={text('diagram')}
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard moves what it shows
      tabIndex={0}
      viewBox={`${x} ${y} ${width} ${height}`}
      onKeyDown={onKeyDown}
      onWheel={event => {
        event.preventDefault()
        const { x, y } = view.pointAt(event)
        view.zoom(1.0015 ** event.deltaY, x, y)
      }}
      onPointerDown={({ button, clientX, clientY }) => {
        if (button === 0) dragged.current = { x: clientX, y: clientY, isDrag: false }
      }}
      onPointerMove={event => {
        const last = dragged.current
        if (!last) return
        const [dx, dy] = [event.clientX - last.x, event.clientY - last.y]
        if (!last.isDrag && Math.hypot(dx, dy) < MIN_DRAG) return
        event.currentTarget.setPointerCapture(event.pointerId)
        view.move(-dx, -dy)
        dragged.current = { x: event.clientX, y: event.clientY, isDrag: true }
      }}
      onPointerUp={() => {
        dragged.current = undefined
      }}
      onPointerCancel={() => {
        dragged.current = undefined
      }}
    >
      <defs>
        <marker id="one" viewBox="0 0 10 10" refX="10" refY="5" markerWidth="9" markerHeight="9" orient="auto">
          <path class="arrow" d="M0 0L10 5L0 10z" />
        </marker>
      </defs>
      {diagram.lines.map(({ relation, path, x, y }) => {
        const { from, to, name, inverse, isToMany } = relation
        const isNear = pointed.value === from.name || pointed.value === to.name
        return (
          <g key={`${from.name}.${name}`} class={isNear ? 'relation near' : 'relation'}>
            <title>{inverse === undefined ? name : `${name} · ${text('back', { name: inverse })}`}</title>
            <path d={path} marker-end={isToMany ? undefined : 'url(#one)'} />
            <text x={x} y={y - 4} text-anchor="middle">
              {name}
            </text>
          </g>
        )
      })}
      {diagram.boxes.map(box => (
        <ClassBox
          key={box.dataClass.name}
          box={box}
          isFound={matches?.includes(box.dataClass)}
          onPoint={name => {
            pointed.value = name
          }}
          onFocus={() => {
            if (picture.current?.querySelector(':focus-visible')) view.centre(box)
          }}
        />
      ))}
    </svg>
  )
}

interface ClassBoxProps {
  readonly box: Box
  /** Undefined without a search. */
  readonly isFound: boolean | undefined
  readonly onPoint: (name: string | undefined) => void
  readonly onFocus: () => void
}

function ClassBox({ box, isFound, onPoint, onFocus }: ClassBoxProps) {
  const { dataClass, x, y, width, height, attributes, more } = box
  const rowAt = (index: number): number => HEAD + 4 + (index + 0.75) * ROW
  return (
    <g
      class={isFound === undefined ? 'class' : isFound ? 'class found' : 'class dim'}
      transform={`translate(${x} ${y})`}
    >
      <a
        href={linkTo([dataClass.name])}
        draggable={false}
        onPointerEnter={() => onPoint(dataClass.name)}
        onPointerLeave={() => onPoint(undefined)}
        onFocus={onFocus}
      >
        <rect class={height === HEAD ? 'head' : undefined} width={width} height={height} rx="6" />
        {height > HEAD && <path class="head" d={`M0 6a6 6 0 0 1 6 -6H${width - 6}a6 6 0 0 1 6 6V${HEAD}H0z`} />}
        <text class="name" x="10" y="20">
          {dataClass.name}
        </text>
        {attributes.map(({ name, type, identifying }, i) => (
          <g key={name}>
            <text class={identifying ? 'key' : undefined} x="10" y={rowAt(i)}>
              {name.length > 18 ? `${name.slice(0, 17)}…` : name}
            </text>
            <text class="type" x={width - 10} y={rowAt(i)} text-anchor="end">
              {type}
            </text>
          </g>
        ))}
        {more > 0 && (
          <text class="type" x="10" y={rowAt(attributes.length)}>
            {text('more', { count: more })}
          </text>
        )}
      </a>
    </g>
  )
}

/** The model as text, for screen readers and for reading. */
function ModelList({ dataClasses }: { readonly dataClasses: readonly DataClass[] }) {
  const relations = relationsOf(dataClasses)
  return (
    <ul class="relations">
      {dataClasses.map(dataClass => {
        const ownRelations = relations.filter(({ from, to }) => from === dataClass || to === dataClass)
        return (
          <li key={dataClass.name}>
            <a href={linkTo([dataClass.name])}>{dataClass.name}</a>
            {ownRelations.length === 0 ? (
              <span class="hint"> {text('none')}</span>
            ) : (
              <ul>
                {ownRelations
                  .flatMap(relation => waysOf(relation, dataClass))
                  .map(way => (
                    <li key={way.name}>
                      {way.name}: {text(way.isToMany ? 'toMany' : 'toOne', { name: way.target })}
                    </li>
                  ))}
              </ul>
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** Attributes of a dataclass that belong to a relation. */
function waysOf({ from, to, name, inverse, isToMany }: Relation, dataClass: DataClass) {
  return [
    ...(from === dataClass ? [{ name, isToMany, target: to.name }] : []),
    ...(to === dataClass && inverse !== undefined ? [{ name: inverse, isToMany: true, target: from.name }] : []),
  ]
}
