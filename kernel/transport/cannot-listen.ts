/** Reasons by the codes of Node.js, with the option to change. */
const REASONS: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (_, port) => `another process has port ${port}; end it, or name another port (server.port)`,
  EADDRNOTAVAIL: host => `${host} is not an address of this machine (server.host)`,
  EAFNOSUPPORT: host => `this machine has no addresses of the kind of ${host} (server.host)`,
  ENOTFOUND: host => `there is no host named ${host} (server.host)`,
  EAI_AGAIN: host => `the host name ${host} cannot be looked up now (server.host)`,
  EACCES: (_, port) =>
    `the user of this process has no right to listen on port ${port}; name one from 1024 on (server.port), or grant the right`,
}

/** @param cause error of Node.js for the same address */
export function cannotListen({ host, port }: { host: string; port: number }, cause: NodeJS.ErrnoException): Error {
  const reason = REASONS[cause.code === 'EPERM' ? 'EACCES' : (cause.code ?? '')]?.(host, port) ?? cause.message
  return new Error(`cannot listen on ${host}:${port}: ${reason}`, { cause })
}
