import { defineErrors } from '../../kernel/api.ts'

export const UploadErrors = defineErrors('UPLOAD', {
  NO_KIND: {
    errCode: 1813,
    http: 400,
    message: () =>
      'say what is uploaded: $rawPict=true (or its type, such as image/png) for an image, $binary=true else',
  },
  UNKNOWN_PICTURE_TYPE: {
    errCode: 1824,
    http: 415,
    message: (received: string) =>
      `${received} is not a supported image type; send PNG, JPEG, GIF, TIFF, WebP or SVG, for example`,
  },
  NOT_RAW: {
    errCode: 1806,
    http: 415,
    message: (contentType: string) =>
      `the body is ${contentType}; send the bytes of the file alone, as the whole body, or multipart/form-data`,
  },
  BAD_FORM: {
    errCode: 1806,
    http: 400,
    message: (problem: string) =>
      `the form cannot be read (${problem}); send a FormData, or the bytes of the file as the body`,
  },
  FILES_OF_FORM: {
    errCode: 1806,
    http: 400,
    message: (received: string) => `the form has ${received}; send one file at a time`,
  },
  EMPTY: {
    errCode: 1806,
    http: 400,
    message: () => 'the body is empty; send the bytes of the file as the body',
  },
  TIMEOUT: {
    errCode: 1806,
    http: 400,
    message: (received: string) =>
      `$timeout=${received} is not a valid lifetime; send a whole number of seconds, 1 or more`,
  },
})
