/* The wall clock of one server, moved by as many microseconds as the file CLOCK_SHIM_FILE says: one
 * int64_t, read through a shared mapping, so that a write to the file steps the clock of a server
 * that runs. All other clocks are left as they are. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset;

__attribute__((constructor)) static void map_offset(void) {
    const char *path = getenv("CLOCK_SHIM_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *page = file < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);
    /* A server on its own time would pass for one whose clock is right. */
    if (page == MAP_FAILED) abort();
    offset = page;
}

static int64_t wall_clock(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    /* Libraries may ask for the time before the constructor has run. */
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000 + (offset ? *offset : 0);
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone) {
    (void)zone;
    int64_t us = wall_clock();
    tv->tv_sec = us / 1000000;
    tv->tv_usec = us % 1000000;
    return 0;
}

time_t time(time_t *result) {
    time_t seconds = wall_clock() / 1000000;
    if (result) *result = seconds;
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *ts) {
    if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)
        return syscall(SYS_clock_gettime, clock, ts);
    int64_t us = wall_clock();
    ts->tv_sec = us / 1000000;
    ts->tv_nsec = us % 1000000 * 1000;
    return 0;
}
