/*
 * pair_cost none|read|write TIMES: so many uncontended pairs of down and up, the fast paths inline
 * as users have them. For counting instructions, not for timing.
 */
#include "rwsem.h"
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    static rwsem_t sem;
    long times = argc == 3 ? strtol(argv[2], NULL, 10) : 0, i;
    int rc = 0;

    if (rwsem_down_write(&sem) == 0) /* the first write asks for the thread's number */
        rwsem_up_write(&sem);
    if (argc != 3)
        return 2;
    if (strcmp(argv[1], "read") == 0) {
        for (i = 0; i < times; i++) {
            rc |= rwsem_down_read(&sem);
            rwsem_up_read(&sem);
        }
    } else if (strcmp(argv[1], "write") == 0) {
        for (i = 0; i < times; i++) {
            rc |= rwsem_down_write(&sem);
            rwsem_up_write(&sem);
        }
    } else {
        for (i = 0; i < times; i++)
            __asm__ volatile("" ::: "memory");
    }
    return rc ? 1 : 0;
}
