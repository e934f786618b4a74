/*
 * Simulates a disk that hangs or fails. As soon as the file SLOW_SYNC_FILE exists, removes it and delays the next fdatasync of the
 * process by SLOW_SYNC_MS. While the file FAILING_SYNC_FILE exists, every fdatasync fails with EIO. Preloaded by slow-disk.test.ts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int fdatasync(int file) {
  const char *slow = getenv("SLOW_SYNC_FILE");
  const char *failing = getenv("FAILING_SYNC_FILE");
  if (slow && unlink(slow) == 0) usleep(1000 * atoi(getenv("SLOW_SYNC_MS")));
  if (failing && access(failing, F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  return real(file);
}
