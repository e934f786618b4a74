/** Types that replace those of playwright-core if it is not installed (`paths` in tsconfig.json). */
// biome-ignore-all lint/suspicious/noExplicitAny: nothing is known of them
export type Browser = any
export type BrowserContext = any
export type BrowserContextOptions = any
export type BrowserType = any
export type CDPSession = any
export type ConsoleMessage = any
export type Locator = any
export type Page = any
export type Request = any
export type Response = any
export type Route = any
