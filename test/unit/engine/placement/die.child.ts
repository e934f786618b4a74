/** Tasks that end the pool thread that runs them. */
export function exit(): never {
  process.exit(3)
}

export function outOfMemory(): number {
  const all: string[][] = []
  for (let i = 0; ; i++) all.push(Array.from({ length: 1_000 }, (_, n) => `${i} ${n}`))
}
