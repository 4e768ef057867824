// Has system calls fail at random, from the first frame that is sent on and for a second.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define SECONDS 1

static atomic_ullong state;
static atomic_long began;

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000 + 1;
}

__attribute__((constructor)) static void seed(void) {
    const char *text = getenv("FAILING_SEED");
    atomic_store(&state, text ? strtoull(text, 0, 10) : 1);
}

static unsigned draw(void) {
    unsigned long long next = atomic_fetch_add(&state, 0x9e3779b97f4a7c15ull) + 0x9e3779b97f4a7c15ull;
    next = (next ^ next >> 30) * 0xbf58476d1ce4e5b9ull;
    next = (next ^ next >> 27) * 0x94d049bb133111ebull;
    return (unsigned)(next >> 33);
}

// Whether this call fails, and how.
static int fails(const int *errors, unsigned count) {
    long begin = atomic_load(&began);
    if (!begin || now() - begin > SECONDS * 1000 || draw() % 4) return 0;
    errno = errors[draw() % count];
    return 1;
}

#define CALL(kind, name, parameters, arguments, ...)                          \
    kind name parameters {                                                    \
        static kind (*real) parameters;                                       \
        if (!real) real = (kind(*) parameters)dlsym(RTLD_NEXT, #name);        \
        static const int errors[] = {__VA_ARGS__};                            \
        if (fails(errors, COUNT(errors))) return -1;                          \
        return real arguments;                                                \
    }

CALL(int, recvmmsg, (int fd, struct mmsghdr *all, unsigned count, int flags, struct timespec *wait),
     (fd, all, count, flags, wait), EINTR, EAGAIN, ENOMEM, ENETDOWN, EIO, ENOBUFS, EINVAL)
CALL(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), EINTR, EAGAIN, ENOMEM,
     ENOBUFS)
CALL(ssize_t, recvfrom, (int fd, void *into, size_t size, int flags, struct sockaddr *from, socklen_t *length),
     (fd, into, size, flags, from, length), EINTR, EAGAIN, ENOMEM, ENOBUFS)
CALL(ssize_t, recv, (int fd, void *into, size_t size, int flags), (fd, into, size, flags), EINTR, EAGAIN, ENOMEM,
     ENOBUFS)
CALL(ssize_t, send, (int fd, const void *what, size_t size, int flags), (fd, what, size, flags), EINTR, EAGAIN,
     ENOMEM, ENOBUFS)
CALL(int, ppoll, (struct pollfd *all, nfds_t count, const struct timespec *wait, const sigset_t *mask),
     (all, count, wait, mask), EINTR, ENOMEM)
CALL(int, epoll_wait, (int fd, struct epoll_event *events, int count, int wait), (fd, events, count, wait), EINTR)
CALL(int, accept4, (int fd, struct sockaddr *address, socklen_t *length, int flags), (fd, address, length, flags),
     EINTR, ECONNABORTED, EMFILE, ENOMEM)
CALL(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *length),
     (fd, level, name, value, length), ENOBUFS, ENOMEM)

// What is neither disk nor network, as an eventfd, fails in no such way.
static int is_file(int fd) {
    struct stat about;
    return !syscall(SYS_fstat, fd, &about) && S_ISREG(about.st_mode);
}

ssize_t read(int fd, void *into, size_t size) {
    static const int errors[] = {EINTR, EIO};
    if (is_file(fd) && fails(errors, COUNT(errors))) return -1;
    return syscall(SYS_read, fd, into, size);
}

ssize_t write(int fd, const void *what, size_t size) {
    static const int errors[] = {EINTR, ENOSPC, EIO};
    if (is_file(fd) && fails(errors, COUNT(errors))) return -1;
    return syscall(SYS_write, fd, what, size);
}

int sendmmsg(int fd, struct mmsghdr *all, unsigned count, int flags) {
    static int (*real)(int, struct mmsghdr *, unsigned, int);
    if (!real) real = (int (*)(int, struct mmsghdr *, unsigned, int))dlsym(RTLD_NEXT, "sendmmsg");
    static const int errors[] = {EINTR, EAGAIN, ENOBUFS, ENOMEM, ENETDOWN, ENXIO, EIO, EPERM, EMSGSIZE, EINVAL};
    if (fails(errors, COUNT(errors))) return -1;
    int sent = real(fd, all, count, flags);
    long none = 0;
    if (sent > 0) atomic_compare_exchange_strong(&began, &none, now());
    return sent;
}
