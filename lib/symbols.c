/* The inlined fast paths once more as exported symbols: for other languages, dlsym() and probes. */
#define RWSEM__FAST
#include "rwsem.h"
