import type { BinaryValue, PluginEngine } from '../../engine/index.ts'
import {
  definePlugin,
  expectedVersion,
  json,
  type Reply,
  type RestRequest,
  type ParameterSpec,
  type ServiceSpec,
} from '../../kernel/api.ts'
import { UploadErrors } from './errors.ts'
import { streamFileOfForm } from './form.ts'

/**
 * `$upload` takes a file, which a save attaches to an image or a blob by its id. Alternatively, bytes are sent directly to an attribute.
 *
 *   POST /$upload?$rawPict=true      an image                  →  { "ID": "{32 hex digits}" }
 *   POST /$upload?$binary=true       any file                  →  { "ID": … }
 *   POST /Employee?$method=update    {…, "photo": {"ID": …}}   attaches it; null removes it
 *   PUT  /Employee(1)/photo?$rawPict=image/png                 →  { "ok": true }; POST means the same
 *   PUT  /Company(1)/contract                                  →  { "ok": true }
 *   DELETE /Employee(1)/photo?$imageformat=best                →  { "ok": true }, the value is now null
 *
 * The body is the file itself, or a form (`FormData` of a browser) with it as its only file. The type of the file is detected from its
 * content; `Content-Type` and `$rawPict` are only refused if they do not name an image type. An id is valid for `$timeout` seconds
 * (120), however often it is attached, for the session that uploaded it. A direct write needs no stamp: it changes the current version.
 * Source: base specification, 2.8, 2.9 and 4.8; protocol notes, 5.7 and 10.1.
 */
export default definePlugin({
  name: 'upload',
  kernel: '^1.0.0',
  register({ service, binary, engine, parameter }) {
    for (const [name, spec] of PARAMETERS) parameter(name, spec)
    service('$upload', UPLOAD, async request => {
      const isPicture = saysPicture(request)
      if (!isPicture && !request.flag('$binary')) throw UploadErrors.NO_KIND()
      const timeoutSeconds = timeoutOf(request)
      const value = await receive(engine, request, isPicture)
      return json({ ID: await engine.uploads.add(value, request.uploader, timeoutSeconds) })
    })

    binary({ verbs: ['POST', 'PUT'] }, async request => {
      const attribute = engine.binaries.addressedForWriting(request.read)
      const options = { owner: request.session.handle, ifMatch: expectedVersion(request) }
      const value = await receive(engine, request, attribute.type === 'image')
      await engine.binaries.save(request.read, attribute, value, options, request.transport)
      return OK
    })
    binary({ verbs: ['DELETE'] }, request => {
      // The parameter distinguishes clearing the attribute from deleting the entity, so that neither happens by mistake.
      if (!request.parameters.has('$imageformat') && !request.parameters.has('$binary')) return undefined
      const attribute = engine.binaries.addressedForWriting(request.read)
      const options = { owner: request.session.handle, ifMatch: expectedVersion(request) }
      return engine.binaries.save(request.read, attribute, null, options, request.transport).then(() => OK)
    })
  },
})

const BINARY = { schema: { type: 'boolean', const: true }, example: true } as const

const PARAMETERS: readonly (readonly [`$${string}`, ParameterSpec])[] = [
  [
    '$rawPict',
    {
      schema: { type: 'string' },
      doc: '`true` or a media type: the body is an image.',
      example: 'true',
      on: ['upload', 'putImage'],
      section: '4.8',
    },
  ],
  ['$binary', { ...BINARY, doc: 'The body is a file of any type.', on: ['upload'], section: '4.8' }],
  ['$binary', { ...BINARY, required: true, doc: 'Sets the blob to null.', on: ['clearBlob'], section: '4.8' }],
  [
    '$imageformat',
    {
      schema: { type: 'string', enum: ['best', 'png', 'jpeg', 'gif', 'tiff', 'webp'] },
      doc: 'With any value, sets the image to null. Without this parameter, DELETE deletes the entity.',
      example: 'best',
      on: ['clearImage'],
      required: true,
      section: '4.8',
    },
  ],
  [
    '$timeout',
    {
      schema: { type: 'integer' },
      doc: 'Time in seconds within which an uploaded file can be attached.',
      example: 60,
      on: ['upload'],
      section: '4.8',
    },
  ],
]

const UPLOAD: ServiceSpec = {
  verbs: ['POST'],
  doc: 'Receives a file; a save then attaches it to an image or blob attribute.',
  section: '4.8',
  tag: 'data',
  operations: {
    'POST /': {
      id: 'upload',
      doc: 'Receives a file; a save then attaches it by its id',
      oneOf: ['$rawPict', '$binary'],
      body: { types: ['*/*'], schema: { type: 'string', format: 'binary' } },
      answers: {
        200: {
          schema: { $ref: '#/components/schemas/rest.Upload' },
        },
      },
    },
  },
}

const OK: Reply = json({ ok: true })

/** Content types that clients send if they do not know the content. */
const NO_LABEL = new Set(['', 'application/octet-stream', 'application/x-www-form-urlencoded'])

/** True for `$rawPict=true` and `$rawPict=image/png`. */
function saysPicture(request: RestRequest): boolean {
  const value = request.parameter('$rawPict') ?? 'false'
  return value !== 'false' && value !== '0'
}

async function receive({ uploads }: PluginEngine, request: RestRequest, isPicture: boolean): Promise<BinaryValue> {
  const contentType = mediaType(request.transport.header('content-type'))
  const check = isPicture ? checkLabel : () => {}
  const isForm = contentType === 'multipart/form-data'
  if (!isForm && contentType.startsWith('multipart/')) throw UploadErrors.NOT_RAW(contentType)
  check(rawPictType(request))
  if (!isForm) check(contentType)
  const value = await uploads.receive(
    (take, limits) => (isForm ? streamFileOfForm(request, check, take, limits) : request.streamBody(take, limits)),
    request.uploader,
  )
  const problem =
    value.size === 0
      ? UploadErrors.EMPTY()
      : isPicture && !value.mediaType.startsWith('image/')
        ? UploadErrors.UNKNOWN_PICTURE_TYPE(`the body (${value.mediaType})`)
        : undefined
  if (!problem) return value
  await uploads.discard(value)
  throw problem
}

function checkLabel(label: string): void {
  if (!NO_LABEL.has(label) && !label.startsWith('image/')) throw UploadErrors.UNKNOWN_PICTURE_TYPE(label.slice(0, 100))
}

function rawPictType(request: RestRequest): string {
  const value = request.parameter('$rawPict') ?? 'true'
  return ['true', '1', 'false', '0'].includes(value) ? '' : mediaType(value)
}

const mediaType = (contentType: string): string => contentType.split(';')[0]!.trim().toLowerCase()

function timeoutOf(request: RestRequest): number | undefined {
  const text = request.parameter('$timeout')
  if (text === undefined) return undefined
  if (!/^0*[1-9][0-9]{0,14}$/.test(text)) throw UploadErrors.TIMEOUT(text.slice(0, 100))
  return Number(text)
}
