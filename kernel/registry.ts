import type { Accepts, Answer, MaybeAnswer, Scope, Verb } from './api.ts'
import type { ReadRequest } from '../engine/query/request.ts'
import type { RestRequest } from './request.ts'

export interface Handler<T> extends Accepts {
  plugin: string
  handle: (request: RestRequest) => T
}

type ApplyParameter = (read: ReadRequest, value: string, request: RestRequest) => void
type FindMember = Parameters<Scope['member']>[0]
export type OnRequest = Parameters<Scope['onRequest']>[0]
export type OnReply = Parameters<Scope['onReply']>[0]
type ApplyPart = (request: RestRequest, next: () => string | undefined) => void | Promise<void>

/** Everything the plugins have registered, by the name a request asks for it with. */
export class Registry {
  readonly services = new Map<string, Handler<Answer>>()
  readonly methods = new Map<string, Handler<Answer>>()
  readonly verbs = new Map<string, { plugin: string; handle: (request: RestRequest) => Answer }>()
  /** In the order of registration, which is the order in which they are asked. */
  readonly commands = new Map<string, Handler<MaybeAnswer>>()
  readonly parameters = new Map<string, { plugin: string; apply: ApplyParameter }>()
  readonly parts = new Map<string, { plugin: string; apply: ApplyPart }>()
  /** By verb. */
  readonly binaries = new Map<string, Handler<MaybeAnswer>>()
  readonly routes = new Map<string, Handler<Answer>>()
  readonly members: FindMember[] = []
  readonly onRequest: OnRequest[] = []
  readonly onReply: OnReply[] = []

  applyParameters(request: RestRequest): void {
    // A service has no dataclass, but what its functions return may be a selection that is shown like any other.
    const { access } = request
    request.read ??= {
      dataClass: '',
      access,
      source: { kind: 'all' },
      skip: 0,
      top: undefined,
      output: { form: 'collection' },
    }
    for (const [name, value] of request.parameters) this.parameters.get(name)?.apply(request.read, value, request)
  }

  /** The registering half of a {@link Scope}, in the name of `plugin`. */
  scopeFor(
    plugin: string,
  ): Omit<
    Scope,
    'plugin' | 'engine' | 'log' | 'lifecycle' | 'onReady' | 'onClose' | 'now' | 'sessions' | 'identities'
  > {
    return {
      service: (name, accepts, handle) => claim(this.services, name, { plugin, ...accepts, handle }),
      method: (name, accepts, handle) => claim(this.methods, name, { plugin, ...accepts, handle }),
      verb: (verb, handle) => claim(this.verbs, verb, { plugin, handle }),
      command: (name, accepts, handle) => claim(this.commands, name, { plugin, ...accepts, handle }),
      parameter: (name, apply) => claim(this.parameters, name, { plugin, apply }),
      part: (name, apply) => claim(this.parts, name, { plugin, apply }),
      binary: (accepts, handle) => {
        for (const verb of accepts.verbs) claim(this.binaries, verb, { plugin, ...accepts, handle })
      },
      route: (path, accepts, handle) => claim(this.routes, path, { plugin, ...accepts, handle }),
      member: find => void this.members.push(find),
      onRequest: hook => void this.onRequest.push(hook),
      onReply: hook => void this.onReply.push(hook),
      applyParameters: request => this.applyParameters(request),
    }
  }
}

function claim<T extends { plugin: string }>(table: Map<string, T>, name: string, entry: T): void {
  const owner = table.get(name)
  if (owner)
    throw new Error(`plugin ${entry.plugin} registers ${name}, which plugin ${owner.plugin} has registered already`)
  table.set(name, entry)
}

export const accepts = (verbs: readonly Verb[], verb: string): boolean =>
  verbs.includes(verb as Verb) || (verb === 'HEAD' && verbs.includes('GET'))
