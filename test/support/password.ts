import { hashPassword } from '../../kernel/auth/password.ts'

/** Hash with which a login takes less than a millisecond; with that of a user of the product it takes a quarter of a second. */
export const quickHash = (password: string): Promise<string> => hashPassword(password, { N: 2 ** 6, r: 8, p: 1 })
