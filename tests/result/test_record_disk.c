/*
 * Records on disks that are full or read-only: small file systems mounted in a mount namespace of a
 * child, skipped where that is not allowed. Also what needs a child for limits or rights of its
 * own.
 */
#include "tests/result/place.h"
#include "tests/skip.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child may mount, drop rights and set limits; what it finds wrong it says and exits with 1. */
enum { CHILD_SKIPS = 77 };

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #condition, errno);              \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void in_child(struct place *p, void (*work)(struct place *))
{
    pid_t child = fork();
    int status;
    assert_true(child >= 0);
    if (child == 0) {
        work(p);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    char *said = tree_read(p->said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_SKIPS) {
        said[strcspn(said, "\n")] = '\0';
        skip_because("%s", said);
    }
    dup2(p->stderr_before, 2); /* for what cmocka has to say */
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("child ended with status 0x%x: %s", (unsigned)status, said);
    free(said);
}

static void write_proc(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

/* In a user namespace of its own a process is nobody until it says who it is to be. */
static void become_root_of_namespace(uid_t user, gid_t group)
{
    char map[64];
    snprintf(map, sizeof(map), "0 %u 1", (unsigned)user);
    write_proc("/proc/self/uid_map", map);
    write_proc("/proc/self/setgroups", "deny"); /* the kernel insists before a gid_map */
    snprintf(map, sizeof(map), "0 %u 1", (unsigned)group);
    write_proc("/proc/self/gid_map", map);
}

/* Mounts a tmpfs on the folder that only this child sees. Ends it as skipped when refused. */
static void mount_small(struct place *p, const char *options)
{
    uid_t user = geteuid();
    gid_t group = getegid();
    bool is_refused = unshare(CLONE_NEWNS | (user == 0 ? 0 : CLONE_NEWUSER)) != 0;
    if (!is_refused && user != 0)
        become_root_of_namespace(user, group);
    if (is_refused || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("rwsem-test", p->folder, "tmpfs", 0, options) != 0) {
        fprintf(stderr, "no mount namespace of one's own here: %s\n", strerror(errno));
        _exit(CHILD_SKIPS);
    }
}

static void work_on_a_full_disk(struct place *p)
{
    char *path = place_join(p->folder, "r.json");
    struct record_file file = {0};
    mount_small(p, "size=16k,nr_inodes=100");
    tree_put(p->folder, "/r.json", "old");
    CHECK(record_open(&file, path) == 0);
    char *filler = place_join(p->folder, "filler");
    int fd = open(filler, O_WRONLY | O_CREAT, 0600);
    char block[4096] = "";
    while (write(fd, block, sizeof(block)) > 0)
        ;
    CHECK(errno == ENOSPC);
    close(fd);
    CHECK(record_save(&file, p->record) == -ENOSPC);
    CHECK(tree_count(p->folder) == 2);
    char *text = tree_read(path);
    CHECK(strcmp(text, "old") == 0);
    free(text);
    free(filler);
    free(path);
}

static void full_disk_keeps_the_old_file_and_the_record_goes_elsewhere(void **state)
{
    struct place *p = *state;
    in_child(p, work_on_a_full_disk);
    assert_said(p, "No space left on device");
    assert_saved_elsewhere(p);
}

static void work_without_inodes(struct place *p)
{
    char *path = place_join(p->folder, "r.json");
    struct record_file file = {0};
    mount_small(p, "size=16k,nr_inodes=2"); /* the folder itself takes one */
    tree_put(p->folder, "/taken", "");
    CHECK(record_open(&file, path) == -ENOSPC);
    CHECK(tree_count(p->folder) == 1);
    free(path);
}

static void disk_without_room_for_a_file_is_refused_before_measuring(void **state)
{
    struct place *p = *state;
    in_child(p, work_without_inodes);
    assert_said(p, "No space left on device; make room");
}

static void work_on_a_read_only_disk(struct place *p)
{
    char *path = place_join(p->folder, "r.json");
    struct record_file file = {0};
    mount_small(p, "size=16k");
    tree_put(p->folder, "/r.json", "old");
    CHECK(mount("rwsem-test", p->folder, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL) == 0);
    CHECK(record_open(&file, path) == -EROFS);
    free(path);
    path = place_join(p->folder, "new.json");
    CHECK(record_open(&file, path) == -EROFS);
    free(path);
}

static void read_only_disk_is_refused_before_measuring(void **state)
{
    struct place *p = *state;
    in_child(p, work_on_a_read_only_disk);
    assert_said(p, "Read-only file system; choose a place that you may write");
}

static void work_as_nobody(struct place *p)
{
    char *path = place_join(p->folder, "r.json");
    struct record_file file = {0};
    tree_put(p->folder, "/r.json", "old");
    CHECK(chmod(p->tree, 0755) == 0 && chmod(p->folder, 0777) == 0 && chmod(path, 0444) == 0);
    if (geteuid() == 0)
        CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
    CHECK(record_open(&file, path) == -EACCES);
    CHECK(tree_count(p->folder) == 1);
    free(path);
}

static void write_protected_file_is_refused_though_its_folder_would_allow_it(void **state)
{
    in_child(*state, work_as_nobody);
    assert_said(*state, "Permission denied");
}

/* A file-size limit holds for the other folder too, so this record cannot be saved at all. */
static void work_under_a_size_limit(struct place *p)
{
    char *path = place_join(p->folder, "r.json");
    struct record_file file = {0};
    sigset_t pending, mask;
    char *long_text = malloc(20001);
    memset(long_text, 'x', 20000);
    long_text[20000] = '\0';
    json_object_set_new(p->record, "long", json_string(long_text));
    CHECK(record_open(&file, path) == 0);
    CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){8192, 8192}) == 0);
    CHECK(record_save(&file, p->record) == -EFBIG);
    CHECK(tree_count(p->folder) == 0);
    CHECK(tree_count(p->other) == 0);
    CHECK(sigpending(&pending) == 0 && !sigismember(&pending, SIGXFSZ));
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && !sigismember(&mask, SIGXFSZ));
    free(long_text);
    free(path);
}

static void file_size_limit_is_an_error_and_not_the_end(void **state)
{
    in_child(*state, work_under_a_size_limit);
    assert_said(*state, "File too large");
    assert_said(*state, "the record is lost");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(full_disk_keeps_the_old_file_and_the_record_goes_elsewhere),
        IN_PLACE(disk_without_room_for_a_file_is_refused_before_measuring),
        IN_PLACE(read_only_disk_is_refused_before_measuring),
        IN_PLACE(write_protected_file_is_refused_though_its_folder_would_allow_it),
        IN_PLACE(file_size_limit_is_an_error_and_not_the_end),
    };
    return cmocka_run_group_tests_name("result/record_disk", tests, NULL, NULL);
}
