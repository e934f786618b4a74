/** A gate that writes to a database pass, at any number, while it is open. */
export class WriteGate {
  private opening: Promise<void> | undefined

  /** Waits until the gate is open. */
  async pass(): Promise<void> {
    while (this.opening) await this.opening
  }

  /** Closes the gate behind those that have passed, which may still be writing. @returns opens it again */
  async close(): Promise<() => void> {
    await this.pass()
    let open!: () => void
    this.opening = new Promise(resolve => {
      open = resolve
    })
    return () => {
      this.opening = undefined
      open()
    }
  }
}
