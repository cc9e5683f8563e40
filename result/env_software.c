/* The C library that runs, and how this program was built. */
#include "result/config.h"
#include "result/env.h"
#include <unistd.h>

void env_software(struct env *e)
{
    char libc[64] = "";
    env_begin(e, "software");
    confstr(_CS_GNU_LIBC_VERSION, libc, sizeof(libc));
    if (libc[0])
        env_put_text(e, "libc", libc);
    else
        env_put_missing(e, "libc", "not glibc, and others do not tell their version");
    env_put_text(e, "compiler", RWSEM_COMPILER);
    env_put_text(e, "optimisation", RWSEM_OPTIMISATION);
    env_put_text(e, "sanitizers", RWSEM_SANITIZERS);
}
