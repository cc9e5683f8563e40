/*
 * Runs a command that may not do one thing: change CPU affinity, or with --no-clone start threads.
 * A system-call filter (seccomp) answers EPERM or EAGAIN. Exits with 77 where filters can't be had.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SKIPPED = 77 };

#define NUMBER_IS(nr, jump) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, (jump))

static int forbid(unsigned first, unsigned second, unsigned error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        NUMBER_IS(first, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        NUMBER_IS(second, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    int first = argc > 1 && !strcmp(argv[1], "--no-clone") ? 2 : 1;
    int error;

    if (first >= argc) {
        fprintf(stderr, "usage: no_pinning [--no-clone] COMMAND [ARG...]\n");
        return 2;
    }
    /* glibc asks for clone3 and, told that there is none, for clone. */
    if (first == 2)
        error = forbid(SYS_clone3, SYS_clone, EAGAIN);
    else
        error = forbid(SYS_sched_setaffinity, SYS_sched_setaffinity, EPERM);
    if (error) {
        fprintf(stderr, "no system-call filters here: %s\n", strerror(errno));
        return SKIPPED;
    }
    execv(argv[first], argv + first);
    fprintf(stderr, "%s: %s\n", argv[first], strerror(errno));
    return 127;
}
