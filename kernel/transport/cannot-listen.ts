/** Address to listen on, with the option of its host (`server.host`) and of its port. */
export interface AddressOptions {
  readonly host: string
  readonly port: number
  /** Section of the options `host` and `port`; `server` by default. */
  readonly section?: 'server' | 'metrics'
}

/** Reasons by the codes of Node.js, with the option to change. */
const REASONS: Readonly<Record<string, (host: string, port: number, section: string) => string>> = {
  EADDRINUSE: (_, port, section) =>
    `another process has port ${port}; end it, or use another port: ${flagOf(section)} ${portBeside(port)} (${section}.port)`,
  EADDRNOTAVAIL: (host, _, section) => `${host} is not an address of this machine (${section}.host)`,
  EAFNOSUPPORT: (host, _, section) => `this machine has no addresses of the kind of ${host} (${section}.host)`,
  ENOTFOUND: (host, _, section) => `there is no host named ${host} (${section}.host)`,
  EAI_AGAIN: (host, _, section) => `the host name ${host} cannot be looked up now (${section}.host)`,
  EACCES: (_, port, section) =>
    `the user of this process has no right to listen on port ${port}; name one from 1024 on (${section}.port), or grant the right`,
}

const MAX_PORT = 65_535
const portBeside = (port: number): number => (port < MAX_PORT ? port + 1 : port - 1)
const flagOf = (section: string): string => (section === 'server' ? '--port' : `--${section}-port`)

/** @param cause error of Node.js for the same address */
export function cannotListen({ host, port, section = 'server' }: AddressOptions, cause: NodeJS.ErrnoException): Error {
  const reason = REASONS[cause.code === 'EPERM' ? 'EACCES' : (cause.code ?? '')]?.(host, port, section) ?? cause.message
  return new Error(`cannot listen on ${host}:${port}: ${reason}`, { cause })
}
