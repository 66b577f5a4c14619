/* Lets one of the calls of some processes to the system fail, or kills the process that makes it.

   Preloaded (LD_PRELOAD) into a process, it counts the calls of this process and of all below it in
   a file that they share (FAULTS names it), and lets the call of the chosen number fail. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Kinds of calls: changes of files, looks at files of the job, looks at others, new processes and
   threads and memory, and messages between processes. */
enum { CHANGE = 1, LOOK = 2, OTHER_LOOK = 4, START = 8, MESSAGE = 16 };

/* The file that is shared: six numbers of 64 bits, and a path. */
struct faults {
    long kinds;    /* counted; 0 for none */
    long at;       /* the call that fails, from 1; 0 for none */
    long error;    /* its errno; negative: the number of a signal that kills the process */
    long lasting;  /* 1: all later calls fail too, as on a full disk */
    long counted;  /* calls so far */
    long spared;   /* the number of a process whose calls do not count */
    char folder[512]; /* of the job, absolute */
};

static struct faults *faults;

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULTS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(0, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED) faults = memory;
}

/* Count a call; nonzero if it fails, with errno set. */
static int fails(int kind)
{
    if (!faults || !(faults->kinds & kind) || getpid() == faults->spared) return 0;
    long number = __atomic_add_fetch(&faults->counted, 1, __ATOMIC_SEQ_CST);
    if (!faults->at || number < faults->at) return 0;
    if (number > faults->at && !faults->lasting) return 0;
    if (faults->error < 0) {
        kill(getpid(), (int)-faults->error);
        return 0;
    }
    errno = (int)faults->error;
    return -1;
}

static int look_at(const char *path)
{
    return strncmp(path, faults->folder, strlen(faults->folder)) ? OTHER_LOOK : LOOK;
}

/* The kind of a change or look by a descriptor. */
static int kind_of(int descriptor, int kind)
{
    struct stat about;
    int before = errno;
    int known = fstat(descriptor, &about);
    errno = before;
    if (known) return 0;
    if (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)) {
        if (kind != LOOK) return kind;
        char name[64], path[4096];
        snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(name, path, sizeof path - 1);
        errno = before;
        if (length < 0) return 0;
        path[length] = 0;
        return look_at(path);
    }
    return S_ISSOCK(about.st_mode) || S_ISFIFO(about.st_mode) ? MESSAGE : 0;
}

#define BY_DESCRIPTOR(result, name, kind, declared, given) \
    result name declared \
    { \
        REAL(name); \
        if (faults && faults->kinds && fails(kind_of(descriptor, kind))) return -1; \
        return real given; \
    }

BY_DESCRIPTOR(ssize_t, write, CHANGE, (int descriptor, const void *data, size_t size),
              (descriptor, data, size))
BY_DESCRIPTOR(ssize_t, pwrite, CHANGE, (int descriptor, const void *data, size_t size, off_t place),
              (descriptor, data, size, place))
BY_DESCRIPTOR(ssize_t, pwrite64, CHANGE,
              (int descriptor, const void *data, size_t size, off64_t place),
              (descriptor, data, size, place))
BY_DESCRIPTOR(ssize_t, writev, CHANGE, (int descriptor, const struct iovec *data, int count),
              (descriptor, data, count))
BY_DESCRIPTOR(int, fsync, CHANGE, (int descriptor), (descriptor))
BY_DESCRIPTOR(int, fdatasync, CHANGE, (int descriptor), (descriptor))
BY_DESCRIPTOR(int, ftruncate, CHANGE, (int descriptor, off_t size), (descriptor, size))
BY_DESCRIPTOR(int, ftruncate64, CHANGE, (int descriptor, off64_t size), (descriptor, size))
BY_DESCRIPTOR(ssize_t, read, LOOK, (int descriptor, void *data, size_t size),
              (descriptor, data, size))
BY_DESCRIPTOR(ssize_t, pread, LOOK, (int descriptor, void *data, size_t size, off_t place),
              (descriptor, data, size, place))
BY_DESCRIPTOR(ssize_t, pread64, LOOK, (int descriptor, void *data, size_t size, off64_t place),
              (descriptor, data, size, place))
BY_DESCRIPTOR(ssize_t, send, CHANGE, (int descriptor, const void *data, size_t size, int flags),
              (descriptor, data, size, flags))
BY_DESCRIPTOR(ssize_t, recv, LOOK, (int descriptor, void *data, size_t size, int flags),
              (descriptor, data, size, flags))
BY_DESCRIPTOR(ssize_t, sendmsg, CHANGE, (int descriptor, const struct msghdr *message, int flags),
              (descriptor, message, flags))
BY_DESCRIPTOR(ssize_t, recvmsg, LOOK, (int descriptor, struct msghdr *message, int flags),
              (descriptor, message, flags))

#define BY_NAME(result, name, declared, given) \
    result name declared \
    { \
        REAL(name); \
        if (fails(CHANGE)) return -1; \
        return real given; \
    }

BY_NAME(int, rename, (const char *from, const char *to), (from, to))
BY_NAME(int, mkdir, (const char *path, mode_t mode), (path, mode))
BY_NAME(int, unlink, (const char *path), (path))

static int hidden(const char *path)
{
    return !strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/", 5);
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        REAL(name); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        if (faults && faults->kinds && !hidden(path) && \
            fails(flags & O_CREAT ? CHANGE : look_at(path))) \
            return -1; \
        return real(path, flags, mode); \
    }

OPEN(open)
OPEN(open64)

pid_t fork(void)
{
    REAL(fork);
    return fails(START) ? -1 : real();
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *with)
{
    REAL(pthread_create);
    return fails(START) ? errno : real(thread, how, run, with);
}

void *mmap64(void *wanted, size_t size, int allowed, int flags, int descriptor, off64_t place)
{
    REAL(mmap64);
    if (descriptor >= 0 && fails(START)) return MAP_FAILED;
    return real(wanted, size, allowed, flags, descriptor, place);
}
