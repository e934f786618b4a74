declare module 'fs-native-extensions' {
  /** @returns false when another descriptor holds a lock that excludes this one */
  export function tryLock(fd: number, offset: number, length: number, options?: { shared?: boolean }): boolean
}
