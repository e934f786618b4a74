/** Error codes by HTTP status: see `plugins/docs/pages/reference/errors.md`. A test compares them with the declared ones. */
export const CODES_BY_STATUS: Readonly<Record<string, readonly number[]>> = {
  '400': [
    1112, 1162, 1200, 1201, 1278, 1279, 1280, 1508, 1587, 1603, 1801, 1806, 1807, 1808, 1809, 1810, 1811, 1812, 1813,
    1815, 1816, 1817, 1818, 1819, 1820,
  ],
  '401': [1557, 1558, 1559, 1560, 1561, 1608, 1611, 1822],
  '403': [1561],
  '404': [-10729, 1500, 1543, 1594, 1800, 1802, 1803, 1804, 1805, 1806, 1810],
  '405': [1806, 1813, 1829],
  '408': [1806],
  '409': [1046, 1066, 1115, 1120, 1121, 1155, 1200, 1263, 1518, 1542, 1545, 1806, 1813],
  '411': [1806],
  '412': [1263],
  '413': [1120, 1200, 1603, 1806],
  '415': [1806, 1824],
  '422': [1116, 1200, 1508, 1516, 1517, 1534, 1536, 1546, 1568, 1569, 1570, 1571, 1591, 1592, 1824, 1825, 1826],
  '429': [1200, 1561],
  '431': [1806],
  '499': [1200],
  '500': [1046, 1200, 1562, 1585, 1602, 1800, 1828],
  '503': [1046, 1200, 1561, 1562],
  '505': [1806],
}

const lines = Object.entries(CODES_BY_STATUS).map(([status, codes]) => `- ${status}: ${codes.join(', ')}`)

export const ERROR_DESCRIPTION = `The request failed. \`errCode\` by status:\n\n${lines.join('\n')}\n\nFunctions and events add codes of their own.`
