/** Plugins that are described without a server: those that wait for data are reported, in place of a command that never ends. */
import t from 'tap'
import { ClassRegistry } from '../../../engine/author/declare/class-registry.ts'
import { loadModel } from '../../../engine/index.ts'
import type { Scope } from '../../../kernel/api.ts'
import { describePlugins } from '../../../kernel/describe-plugins.ts'

const catalog = loadModel({ name: 'empty', dataClasses: {} })

/** Describes a plugin that registers a service, and then does something else. */
function describe(work: (scope: Scope & Record<'data', Data>) => unknown) {
  const register = async (scope: Scope): Promise<void> => {
    scope.service('$acme', { verbs: ['GET'] }, () => ({ status: 200, body: '' }))
    await work(scope as never)
  }
  const definition = { name: 'acme', kernel: '^1.0.0', register }
  const surroundings = { catalog, classes: new ClassRegistry(), configFolder: '/etc/tesser', seconds: 0.01 }
  return describePlugins([{ definition, options: {}, entry: {} } as never], surroundings)
}

interface Data {
  readonly count: number
  next(): Data | undefined
}

const WAITING: readonly (readonly [
  name: string,
  work: (scope: Scope & Record<'data', Data>) => unknown,
  message: RegExp,
])[] = [
  [
    'for a value',
    ({ data }) => {
      while (!(data.count > 0));
    },
    /data of the server in an endless loop; there is none yet, wait in onReady\(\)/,
  ],
  [
    'for the end of a list',
    ({ data }) => {
      for (let each = data.next(); each; each = each.next());
    },
    /endless loop/,
  ],
  [
    'for the server',
    ({ lifecycle }) => {
      while (lifecycle.state !== 'ready');
    },
    /endless loop/,
  ],
  ['for a callback', ({ onReady }) => new Promise<void>(resolve => onReady(resolve)), /has not ended within 0\.01 s/],
  ['for nothing', () => new Promise(() => {}), /has not ended within 0\.01 s; wait for data in onReady\(\)/],
]

for (const [name, work, message] of WAITING) {
  t.test(`a plugin that waits ${name}`, async t => {
    const { problems, registry } = await describe(work)
    t.equal(problems.length, 1)
    t.match(problems[0], /^plugin acme is described in part, since it failed to register: /)
    t.match(problems[0], message)
    t.ok(registry.services.has('$acme'), 'what it has registered is described')
  })
}

t.test('relative paths start at the folder of the configuration', async t => {
  const folders: string[] = []
  const { problems } = await describe(({ configFolder }) => folders.push(configFolder))
  t.strictSame([problems, folders], [[], ['/etc/tesser']])
})
