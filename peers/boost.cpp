/* Boost.Thread's shared_mutex: a count behind a mutex, and three condition variables. */
#include "peers/cxx.hpp"
#include <boost/thread/shared_mutex.hpp>

CXX_PEER(boost_shared, boost::shared_mutex, "boost::shared_mutex of Boost.Thread")
