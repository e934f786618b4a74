/*
 * Simulates a disk that hangs: as soon as the file SLOW_SYNC_FILE exists, removes it and delays the next fdatasync of the process
 * by SLOW_SYNC_MS. Preloaded by slow-disk.test.ts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

int fdatasync(int file) {
  const char *trigger = getenv("SLOW_SYNC_FILE");
  if (trigger && unlink(trigger) == 0) usleep(1000 * atoi(getenv("SLOW_SYNC_MS")));
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  return real(file);
}
