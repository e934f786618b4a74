import { defineErrors } from '../errors.ts'

export const BinaryErrors = defineErrors('BINARY', {
  DISK_FULL: {
    errCode: 1046,
    http: 503,
    message: () => 'the disk of the store is full or failing; nothing of this upload was kept',
  },
  TOO_MANY_UPLOADS: {
    errCode: 1046,
    http: 503,
    message: (limit: number) => `${limit} uploads are under way, which is the limit; try again in a moment`,
  },
  TOO_MUCH_UPLOADED: {
    errCode: 1046,
    http: 503,
    message: (limitBytes: number) =>
      `uploads hold ${limitBytes} bytes, which is the limit; try again when some have expired`,
  },
})
