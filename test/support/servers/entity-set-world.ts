import type { Test } from 'tap'
import { company } from '../fixtures/company.ts'
import { wantedSetting } from '../runner/setting.ts'
import { temporaryFolder } from '../base/temporary-folder.ts'
import { startServer, type TestAnswer, type TestServer, transports } from './test-server.ts'

/** A server with a clock that the test moves. */
export class World {
  private constructor(
    private readonly t: Test,
    private readonly folder: string,
    public server: TestServer,
    private readonly clock: { ms: number },
  ) {}

  static async start(t: Test, transport = transports[0]!, config = {}): Promise<World> {
    const folder = temporaryFolder(t)
    const clock = { ms: Date.now() }
    const server = await startServer(t, company, { transport, config, folder, now: () => clock.ms })
    return new World(t, folder, server, clock)
  }

  /** Makes a set. @returns its id */
  async make(path: string): Promise<string> {
    const answer = await this.get(`${path}${path.includes('?') ? '&' : '?'}$method=entityset`)
    this.t.equal(answer.status, 200, answer.text.slice(0, 300))
    return idOf(answer)
  }

  get(path: string): Promise<TestAnswer> {
    return this.server.get(path)
  }

  async keys(path: string): Promise<(string | undefined)[]> {
    const answer = await this.get(path)
    this.t.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 300)}`)
    return answer.json.__ENTITIES.map((entity: { __KEY?: string }) => entity.__KEY)
  }

  async same(path: string, keys: readonly (string | undefined)[]): Promise<void> {
    this.t.same(await this.keys(path), keys, path)
  }

  async refused(path: string, status: number, codes: readonly number[]): Promise<void> {
    const answer = await this.get(path)
    this.t.equal(answer.status, status, path)
    this.t.same(
      answer.json.__ERROR?.map((error: { errCode: number }) => error.errCode),
      codes,
      answer.text,
    )
  }

  /** Differs after every change of an entity; NaN, which does not equal itself, where the server does not count them. */
  async globalStamp(): Promise<number> {
    if (wantedSetting() === 'remote') return Number.NaN
    return (await this.get('/Employee?$top=0')).json.__GlobalStamp
  }

  /** The same world for a nested test, which reports its failures. */
  in(t: Test): World {
    return new World(t, this.folder, this.server, this.clock)
  }

  pass(seconds: number): void {
    this.clock.ms += seconds * 1000
  }

  async restart(): Promise<void> {
    await this.server.close()
    const { t, folder, clock } = this
    this.server = await startServer(t, { ...company, rows: {} }, { folder, now: () => clock.ms })
  }
}

export const idOf = (answer: TestAnswer): string =>
  answer.json.__ENTITYSET.slice(answer.json.__ENTITYSET.lastIndexOf('/') + 1)

export interface Case {
  /** See `ProtocolCase`. */
  notRemote?: string
  /** Section that promises the behaviour, as in the protocol tables. */
  spec: string
  name: string
  run(world: World, t: Test): Promise<void>
}

export const WOMEN = '/Employee?$filter="woman=true"'
export const MISSING = '0123456789ABCDEF0123456789ABCDEF'
