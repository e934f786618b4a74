/** A gate that any number of writes to a database can pass while it is open. */
export class WriteGate {
  private opening: Promise<void> | undefined

  /** Waits until the gate is open. */
  async pass(): Promise<void> {
    while (this.opening) await this.opening
  }

  /** Closes the gate; writes that have already passed may still be running. @returns a function that opens it again */
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
