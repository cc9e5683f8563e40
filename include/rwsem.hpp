/*
 * The C++ face of librwsem: rwsem::shared_mutex meets SharedTimedMutex, so that std::unique_lock,
 * std::shared_lock, std::lock_guard and std::scoped_lock work with it. Same 16 bytes, same rules as
 * rwsem.h; errors that lock() cannot return are thrown as std::system_error.
 */
#ifndef RWSEM_HPP
#define RWSEM_HPP

#include "rwsem.h"
#include <cerrno>
#include <chrono>
#include <system_error>

namespace rwsem
{

class shared_mutex
{
  public:
    constexpr shared_mutex() noexcept : sem_{0, 0}
    {
    }

    /* flags of enum rwsem_flag */
    explicit shared_mutex(unsigned flags) : sem_{0, 0}
    {
        check(rwsem_init(&sem_, flags));
    }

    shared_mutex(const shared_mutex &) = delete;
    shared_mutex &operator=(const shared_mutex &) = delete;

    ~shared_mutex()
    {
        rwsem_destroy(&sem_);
    }

    void lock()
    {
        check(rwsem_down_write(&sem_));
    }

    bool try_lock()
    {
        return got(rwsem_try_down_write(&sem_));
    }

    void unlock()
    {
        rwsem_up_write(&sem_);
    }

    void lock_shared()
    {
        check(rwsem_down_read(&sem_));
    }

    bool try_lock_shared()
    {
        return got(rwsem_try_down_read(&sem_));
    }

    void unlock_shared()
    {
        rwsem_up_read(&sem_);
    }

    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period> &time)
    {
        return try_lock_until(std::chrono::steady_clock::now() + up(time));
    }

    template <class Rep, class Period>
    bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &time)
    {
        return try_lock_shared_until(std::chrono::steady_clock::now() + up(time));
    }

    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time)
    {
        return until(time, rwsem_down_write_until);
    }

    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &time)
    {
        return until(time, rwsem_down_read_until);
    }

    /* Beyond SharedTimedMutex. */
    void downgrade()
    {
        rwsem_downgrade_write(&sem_);
    }

    bool try_upgrade()
    {
        return rwsem_try_upgrade(&sem_) == 0;
    }

    rwsem_t *native_handle() noexcept
    {
        return &sem_;
    }

  private:
    using steady = std::chrono::steady_clock;

    /* Longer waits, which may not fit into steady_clock's nanoseconds, are cut to 31 years. */
    enum : long { MOST_SECONDS = 1000000000 };
    using seconds = std::chrono::duration<long double>;

    static void check(int rc)
    {
        if (rc)
            throw std::system_error(-rc, std::generic_category(), "rwsem");
    }

    /* True, false when the lock was busy or the time was over, else throws. */
    static bool got(int rc)
    {
        if (rc == -EBUSY || rc == -ETIMEDOUT)
            return false;
        check(rc);
        return true;
    }

    template <class Rep, class Period>
    static steady::duration up(const std::chrono::duration<Rep, Period> &time)
    {
        if (seconds(time) <= seconds(0))
            return steady::duration(0);
        if (seconds(time) >= seconds(MOST_SECONDS))
            return std::chrono::seconds(MOST_SECONDS);
        auto rounded = std::chrono::duration_cast<steady::duration>(time);

        return rounded < time ? rounded + steady::duration(1) : rounded;
    }

    /* steady_clock is CLOCK_MONOTONIC on Linux. */
    bool until_steady(steady::time_point time, int (*take)(rwsem_t *, const struct timespec *))
    {
        auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch());
        struct timespec deadline = {};

        if (ns.count() > 0) {
            deadline.tv_sec = static_cast<time_t>(ns.count() / 1000000000);
            deadline.tv_nsec = static_cast<long>(ns.count() % 1000000000);
        }
        return got(take(&sem_, &deadline));
    }

    /* Another clock may be set while we wait: look at it again when the time seems to be over. */
    template <class Clock, class Duration>
    bool until(const std::chrono::time_point<Clock, Duration> &time,
               int (*take)(rwsem_t *, const struct timespec *))
    {
        do {
            auto now = Clock::now();
            /* The difference may not fit into the clocks' own units. */
            auto left = seconds(time.time_since_epoch()) - seconds(now.time_since_epoch());
            bool fits = left > seconds(0) && left < seconds(MOST_SECONDS);
            auto wait = fits ? up(time - now) : up(left);

            if (until_steady(steady::now() + wait, take))
                return true;
        } while (Clock::now() < time);
        return false;
    }

    rwsem_t sem_;
};

} // namespace rwsem

#endif
