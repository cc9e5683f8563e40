/* Abseil's Mutex, which tells readers from writers, as it comes but for one setting. */
#include "peers/cxx.hpp"
#include <absl/synchronization/mutex.h>

namespace
{

class lock_of_abseil
{
  public:
    /*
     * Built without NDEBUG, as Debian's library is, Abseil looks for deadlocks each time a lock is
     * taken, which makes that five to seven times as dear. Programs in earnest use go without.
     */
    lock_of_abseil()
    {
        absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    }

    void lock_shared()
    {
        mutex_.ReaderLock();
    }

    void unlock_shared()
    {
        mutex_.ReaderUnlock();
    }

    void lock()
    {
        mutex_.Lock();
    }

    void unlock()
    {
        mutex_.Unlock();
    }

  private:
    absl::Mutex mutex_;
};

} // namespace

CXX_PEER(abseil, lock_of_abseil, "absl::Mutex of Google's Abseil, without its search for deadlocks")
