import { ANY_OBJECT, FAILURE, jsonContent } from './names.ts'

const HEALTH = jsonContent({ type: 'object', properties: { status: { type: 'string' } }, required: ['status'] })
const health = (id: string, summary: string): object => ({
  get: {
    ...{ operationId: id, summary, tags: ['server'] },
    responses: {
      '200': { description: 'Healthy.', content: HEALTH },
      '503': { description: 'Not healthy.', content: HEALTH },
      ...FAILURE,
    },
  },
})
const METRICS = {
  get: {
    operationId: 'metrics',
    summary: 'Metrics for Prometheus, unless `metrics.port` gives them a port of their own',
    tags: ['server'],
    responses: {
      '200': { description: 'The text format.', content: { 'text/plain': { schema: { type: 'string' } } } },
      ...FAILURE,
    },
  },
}
const MCP = {
  post: {
    operationId: 'mcp',
    summary: 'The Model Context Protocol, for agents',
    tags: ['server'],
    requestBody: {
      required: true,
      content: jsonContent(
        {
          type: 'object',
          properties: {
            jsonrpc: { type: 'string', const: '2.0' },
            id: { type: ['string', 'number'] },
            method: { type: 'string' },
            params: ANY_OBJECT,
          },
          required: ['jsonrpc'],
        },
        { example: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
      ),
    },
    responses: {
      '200': {
        description: 'A message of JSON-RPC.',
        content: { ...jsonContent(ANY_OBJECT), 'text/event-stream': { schema: { type: 'string' } } },
      },
      '202': { description: 'A notification was taken.' },
      default: { description: 'An error of JSON-RPC or of the server.', content: jsonContent(ANY_OBJECT) },
    },
  },
}

/** Addresses outside `/rest`, by the plugin that serves them. A dataclass of the same name has precedence. */
export function outsidePaths(
  restPath: string,
  isAdministrator: boolean,
  loads: (plugin: string) => boolean,
): Record<string, object> {
  const servers = [{ url: restPath.slice(0, -'/rest'.length) || '/' }]
  const paths = {
    ...(loads('health') && {
      '/health': health('health', 'Whether the server takes reads and writes'),
      '/health/ready': health('health.ready', 'Whether the server takes reads and writes'),
      '/health/live': health('health.live', 'Whether the process answers'),
    }),
    ...(loads('metrics') && isAdministrator && { '/metrics': METRICS }),
    ...(loads('mcp') && { '/mcp': MCP }),
  }
  return Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, { servers, ...item }]))
}
