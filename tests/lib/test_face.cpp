// The C++ face compiles with the standard's guards and does what SharedTimedMutex asks. A plain
// program, for it is also what the test of the installed library builds: exits 0, or says what
// failed.
#include <rwsem.hpp>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "failed: %s\n", #condition);                                      \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static_assert(sizeof(rwsem::shared_mutex) == 16, "as small as the C type");

template <class F> static bool elsewhere(F call)
{
    bool result = false;
    std::thread thread([&] { result = call(); });

    thread.join();
    return result;
}

int main()
{
    using namespace std::chrono_literals;
    static rwsem::shared_mutex mutex;

    {
        std::shared_lock<rwsem::shared_mutex> one(mutex);
        CHECK(elsewhere([] {
            return std::shared_lock<rwsem::shared_mutex>(mutex, std::try_to_lock).owns_lock();
        }));
        CHECK(!elsewhere(
            [] { return std::unique_lock<rwsem::shared_mutex>(mutex, 5ms).owns_lock(); }));
    }
    {
        std::unique_lock<rwsem::shared_mutex> one(mutex);
        auto system_time = std::chrono::system_clock::now() + 5ms;
        CHECK(!elsewhere([] { return mutex.try_lock_shared(); }));
        CHECK(!elsewhere([&] { return mutex.try_lock_shared_until(system_time); }));
    }
    {
        std::scoped_lock<rwsem::shared_mutex> one(mutex);
        CHECK(rwsem_is_write_held_by_me(mutex.native_handle()));
    }
    CHECK(mutex.try_lock_for(0ms));
    mutex.downgrade();
    CHECK(mutex.try_upgrade());
    mutex.unlock();
    {
        std::atomic<int> ends{0};
        mutex.lock();
        std::thread one([&] {
            ends += mutex.try_lock_for(std::chrono::hours::max()) ? 1 : 100;
            mutex.unlock();
        });
        std::this_thread::sleep_for(20ms);
        CHECK(ends == 0);
        CHECK(!elsewhere(
            [&] { return mutex.try_lock_until(std::chrono::system_clock::time_point::min()); }));
        CHECK(!elsewhere([&] { return mutex.try_lock_for(std::chrono::hours::min()); }));
        mutex.unlock();
        one.join();
        CHECK(ends == 1);
    }
    try {
        rwsem::shared_mutex bad(1u << 20);
        CHECK(false);
    } catch (const std::system_error &error) {
        CHECK(error.code().value() == EINVAL);
    }
    return 0;
}
