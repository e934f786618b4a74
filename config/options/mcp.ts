import { flag } from '../option.ts'

/** Options for agents that use the Model Context Protocol. */
export const mcpOptions = {
  'mcp.write': flag({
    default: false,
    doc: 'Let agents at `/mcp` save and delete entities, and call functions that do not allow GET, within their rights.',
  }),
} as const
