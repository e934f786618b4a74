/**
 * Tries without a password, and asks for one on the terminal when the server demands it.
 * @param hasPassword whether the address or the environment has a password already
 */
export async function withPassword<T>(
  connect: (password?: string) => Promise<T>,
  isDemand: (error: unknown) => boolean,
  hasPassword: boolean,
): Promise<T> {
  try {
    return await connect()
  } catch (error) {
    if (hasPassword || !isDemand(error) || !process.stdin.isTTY) throw error
    const { default: ask } = await import('@inquirer/password')
    return connect(await ask({ message: 'Password of the database' }))
  }
}
