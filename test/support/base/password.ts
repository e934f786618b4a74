import { hashPassword } from '../../../kernel/auth/password.ts'

/** Hash of the lowest cost, for tests that log in; to compare with that of a user of the product takes a quarter of a second. */
export const quickHash = (password: string): Promise<string> => hashPassword(password, { N: 2 ** 6, r: 8, p: 1 })
