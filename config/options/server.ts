import { bytes, choice, flag, integer, optionalFlag, path, text, textList } from '../option.ts'

/** Options for the HTTP edge and the log. */
export const serverOptions = {
  'server.host': text({
    default: '127.0.0.1',
    doc: 'Address to listen on; `0.0.0.0` for all addresses of this machine.',
  }),
  'server.port': integer({ default: 8080, min: 0, max: 65_535, doc: 'Port to listen on; 0 takes a free port.' }),
  'server.transport': choice({
    default: 'auto',
    of: ['auto', 'uws', 'uws-node20', 'node-http'],
    doc: 'HTTP implementation: the current uWebSockets.js, its build for Node 20, or the one built into Node; `auto` takes the first that works. Only `node-http` answers clients that send requests without waiting for answers (pipelining).',
  }),
  'server.tls.keyFile': path(
    'Private key of the server, PEM. With `certFile`, the server speaks only HTTPS. It reads both files again when they change, and on SIGHUP.',
  ),
  'server.tls.certFile': path('Certificate of the server with its chain, PEM.'),
  'server.tls.passphrase': text<string | undefined>({
    default: undefined,
    secret: true,
    doc: 'Passphrase of the key file.',
  }),
  'server.headerBytes': bytes({
    default: '64 KiB',
    min: 4096,
    doc: 'Maximum size of the request line and headers together; filters and vectors make the request line long.',
  }),
  'server.bodyBytes': bytes({
    default: '32 MiB',
    min: 1024,
    doc: 'Maximum size of a request body, at most `server.bufferBytes`.',
  }),
  'server.commandBodyBytes': bytes({
    default: '1 MiB',
    min: 1024,
    doc: 'Maximum size of the body of a command: a login, `$query`, `$release`.',
  }),
  'server.jsonDepth': integer({
    default: 100,
    min: 2,
    max: 500,
    doc: 'Maximum nesting of arrays and objects in a JSON body; in the body of a save, in the value of each attribute.',
  }),
  'server.jsonValues': integer({ default: 4_000_000, min: 100, doc: 'Maximum number of values in a JSON body.' }),
  'server.bufferBytes': bytes({
    default: '256 MiB',
    min: 2 ** 20,
    doc: 'Memory for the request bodies and answers in transit of all requests together; beyond it the server answers 503.',
  }),
  'server.requestTimeoutMs': integer({
    default: 30_000,
    min: 1000,
    doc: 'Time within which a whole request, head and body, must arrive.',
  }),
  'server.idleTimeoutMs': integer({
    default: 60_000,
    min: 1000,
    doc: 'Time after which a connection without a request is closed.',
  }),
  'server.maxConnections': integer({
    default: 0,
    min: 0,
    doc: 'Maximum number of connections; further connections are closed immediately. 0: half of the files that the system lets the process open (`ulimit -n`) in addition to its own. The transport `uws-node20` cannot limit connections: if you set a limit, or the default is below 2000, `auto` uses another transport.',
  }),
  'server.answerTimeoutMs': integer({
    default: 30_000,
    min: 100,
    doc: 'Time without progress after which the connection of a client that does not read its answer is closed.',
  }),
  'server.minAnswerRate': bytes({
    default: '4 KiB',
    min: 0,
    doc: 'Minimum average rate, in bytes per second, at which a client must read an answer that takes more than twice `server.answerTimeoutMs`; 0: no minimum.',
  }),
  'server.compression': flag({
    default: true,
    doc: 'Compress JSON and text of 2 KiB and more for clients that accept it (`br`, `gzip`).',
  }),
  'server.graceMs': integer({
    default: 10_000,
    min: 0,
    doc: 'Time that requests in flight have to finish after the server begins to stop.',
  }),
  'server.drainMs': integer({
    default: 0,
    min: 0,
    doc: 'Time after a stop signal during which the server still accepts requests while `/health/ready` answers 503, so that a load balancer stops sending requests before the port closes. Set it to a little more than the interval between two health checks.',
  }),
  'server.refuseChunked': flag({ default: false, doc: 'Refuse bodies with `Transfer-Encoding: chunked` (411).' }),
  'server.allowedHosts': textList({
    default: [],
    doc: 'Hosts that requests may name, such as `data.example.com` or `.example.com` for a domain, `*` for all. IP addresses and `localhost` are always allowed. By default, no other host is allowed if `server.host` is a loopback address; otherwise all hosts are.',
  }),
  'server.trustedProxies': textList({
    default: [],
    doc: 'Proxies whose `X-Forwarded-For`, `-Proto`, `-Host` and `Forwarded` headers the server trusts: addresses, networks such as `10.0.0.0/8`, or `loopback`, `linklocal`, `uniquelocal`.',
  }),
  'server.basePath': text({
    default: '',
    mayBeEmpty: true,
    // Excludes `.` and `..`, and characters that would have to be encoded in links and in the path of a cookie.
    pattern: '^(?:/(?!\\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)*$',
    examples: ['/data'],
    doc: 'Path under which a proxy publishes the server, such as `/data`: links in answers and the path of the cookie begin with it. The server accepts requests with and without it.',
  }),
  'server.cors.origins': textList({
    default: [],
    doc: 'Origins of pages that may read and write, such as `https://app.example.com`; `*` for all origins, without cookies.',
  }),
  'server.cors.credentials': flag({ default: false, doc: 'Let pages of these origins send cookies.' }),
  'server.cors.maxAgeSeconds': integer({
    default: 600,
    min: 0,
    doc: 'Time for which a browser may cache the answer to a preflight request.',
  }),
  'server.serverTiming': flag({
    default: false,
    doc: 'Send the header `Server-Timing`: how long a request took, waited and ran in other threads. It reveals more to clients than they need.',
  }),
  'server.accessLog': flag({
    default: false,
    doc: 'Log every request with its client, user, status, time, bytes and user agent, including requests that plugins make within the server.',
  }),

  'log.level': choice({
    default: 'info',
    of: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    doc: 'Lowest level that is logged.',
  }),
  'log.pretty': optionalFlag(
    'Write log lines for people instead of JSON; the default if the standard output is a terminal.',
  ),
  'log.slowQueryMs': integer({
    default: 1_000,
    min: 0,
    doc: 'Time in milliseconds after which a request is logged as slow, with its plan and counts but without its values; 0: never.',
  }),
  'log.slowQueryValues': flag({
    default: false,
    doc: 'Log slow requests with their query strings, including the values of filters. Bodies, and the query strings of addresses outside `/rest`, are never logged.',
  }),
} as const
