/* The reader-writer locks of oneTBB: one that sleeps after a while, one that only spins. */
#include "peers/cxx.hpp"
#include <oneapi/tbb/rw_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>

CXX_PEER(tbb_rw_mutex, tbb::rw_mutex, "tbb::rw_mutex of oneTBB, which spins before it sleeps")
CXX_PEER(tbb_spin_rw, tbb::spin_rw_mutex, "tbb::spin_rw_mutex of oneTBB, which spins and yields",
         true)
