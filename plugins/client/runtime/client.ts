import { type ClientOptions, Connection, readJson, type RequestOptions } from './connection.ts'
import { Converter, type Schema } from './convert.ts'
import { DataClass } from './dataclass.ts'
import { errorOf } from './errors.ts'
import type { CallArguments, ClassNamed, Environment, Signature, StoreWith } from './functions.ts'
import { call, type Context } from './query.ts'
import type { BinaryLink, Upload } from './types.ts'

/** A client: its dataclasses by name, and commands, whose names begin with `$`. */
export type Client<E extends Environment> = {
  readonly [N in keyof E['model']]: DataClass<E['model'][N], E>
} & Commands<E>

export interface User {
  readonly userName: string
  readonly fullName: string
  readonly ID: string | number
}

/** User of a session, with its rights. */
export interface Whoami {
  /** Null for a guest. */
  readonly user: User | null
  readonly privileges: readonly string[]
  readonly administrator: boolean
}

export interface UploadOptions extends RequestOptions {
  /** Called with the fraction that has been sent, from 0 to 1. */
  readonly onProgress?: (share: number) => void
  /** False for any file; by default true for bytes with an image media type. */
  readonly image?: boolean
}

/** Requested form of an image. */
export interface ImageOptions {
  readonly format?: 'best' | 'png' | 'jpeg' | 'gif' | 'tiff' | 'webp' | undefined
  /** Maximum number of pixels. */
  readonly width?: number | undefined
  readonly height?: number | undefined
}

interface Commands<E extends Environment> {
  readonly $session: {
    /** @throws {TesserError} `denied` if the name or the password is wrong */
    login(name: string, password: string, options?: RequestOptions): Promise<void>
    logout(options?: RequestOptions): Promise<void>
    whoami(options?: RequestOptions): Promise<Whoami>
  }
  /** Sends a file, to be saved as the value of an image or a blob within two minutes. */
  $upload(file: Blob | Uint8Array, options?: UploadOptions): Promise<Upload>
  /** Downloads the bytes behind a link. */
  $download(link: BinaryLink, options?: ImageOptions & RequestOptions): Promise<Blob>
  /** Calls a function of the datastore. */
  $call<K extends keyof E['services']['dataStore'] & string, S extends StoreFunction<E, K>>(
    name: K,
    ...rest: CallArguments<S['arguments']>
  ): Promise<S['result']>
  /** Calls a function of a singleton. */
  $singleton<
    N extends keyof E['services']['singletons'] & string,
    K extends keyof E['services']['singletons'][N] & string,
    S extends SingletonFunction<E, N, K>,
  >(singleton: N, name: K, ...rest: CallArguments<S['arguments']>): Promise<S['result']>
}

type StoreFunction<E extends Environment, K extends keyof E['services']['dataStore']> = Signature<
  E['services']['dataStore'][K],
  StoreWith<E, K>,
  K,
  E,
  '',
  '*'
>
type SingletonFunction<
  E extends Environment,
  N extends keyof E['services']['singletons'],
  K extends keyof E['services']['singletons'][N],
> = Signature<E['services']['singletons'][N][K], ClassNamed<E, N>, K, E, '', '*'>

/**
 * Creates a client of a server.
 * @param url address up to and including `/rest`; relative to the page in browsers
 */
export function connect<E extends Environment>(
  url: string | URL,
  schema: Schema,
  options: ClientOptions = {},
): Client<E> {
  const connection = new Connection(url, options)
  const converter = new Converter(schema, connection.url)
  const context: Context = { connection, converter }
  const commands: Commands<Environment> = {
    $session: {
      async login(name, password, options) {
        await connection.ask('$directory/login', { body: [name, password], ...options })
      },
      async logout(options) {
        await connection.ask('$directory/logout', { method: 'POST', ...options })
      },
      async whoami(options) {
        const answer = await connection.ask('$directory/currentUser', options)
        const { result: user, ...rights } = answer as { result: User | null } & Omit<Whoami, 'user'>
        return { user, ...rights }
      },
    },
    async $upload(file, { image = 'type' in file && file.type.startsWith('image/'), ...options } = {}) {
      const request = { method: 'POST', body: file, ...options } as const
      return (await connection.ask(`$upload?${image ? '$rawPict' : '$binary'}=true`, request)) as Upload
    },
    async $download(link, { format, width, height, ...options } = {}) {
      const address = imageUrl(link, { format, width, height })
      // Another host must not receive the key.
      if (!address.startsWith(`${connection.url}/`))
        throw new TypeError(`${address} is not a link of ${connection.url}`)
      const answer = await connection.respond(address, options)
      if (!answer.ok) throw errorOf(await readJson(answer))
      return answer.blob()
    },
    $call: (name: string, args?: readonly unknown[], options?: RequestOptions) =>
      call(context, `$catalog/${name}`, args, options),
    $singleton: (singleton: string, name: string, args?: readonly unknown[], options?: RequestOptions) =>
      call(context, `$singleton/${singleton}/${name}`, args, options),
  }
  const dataClasses = Object.keys(schema.classes).map(name => [name, new DataClass(context, name)])
  return { ...Object.fromEntries(dataClasses), ...commands } as Client<E>
}

/** Address of an image in another form, for `<img>`. */
export function imageUrl({ url }: BinaryLink, { format, width, height }: ImageOptions): string {
  const formattedUrl = format ? url.replace(/(\$imageformat=)\w+/, `$1${format}`) : url
  return `${formattedUrl}${width ? `&$width=${width}` : ''}${height ? `&$height=${height}` : ''}`
}
