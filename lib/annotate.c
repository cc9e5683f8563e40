/* Which race checker the process runs under. */
#include "annotate.h"

const struct rwsem__tool *rwsem__tool;

static const struct rwsem__tool *const tools[] = {
#ifdef RWSEM_VALGRIND
    &rwsem__drd, /* before Helgrind, to whose question it does not say no */
    &rwsem__helgrind,
#endif
    &rwsem__tsan,
};

bool rwsem__start_annotating(void)
{
    size_t i;

    for (i = 0; i < sizeof(tools) / sizeof(tools[0]) && !rwsem__tool; i++) {
        if (tools[i]->is_here())
            rwsem__tool = tools[i];
    }
    return rwsem__tool != NULL;
}
