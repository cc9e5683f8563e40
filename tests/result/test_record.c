/*
 * Records on their way to the disk: replaced whole or not at all, nothing left behind, saved
 * elsewhere when writing fails. Nothing here needs a privilege; disks that are full or read-only
 * are in test_record_disk.c.
 */
#include "tests/result/place.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void assert_silent(const struct place *p)
{
    assert_content(p->said, "");
}

/* Opens and saves; both have to work. */
static void save(const struct place *p, const char *path)
{
    struct record_file file = {0};
    assert_int_equal(record_open(&file, path), 0);
    assert_int_equal(record_save(&file, p->record), 0);
    assert_null(file.path);
}

static void assert_refused(const struct place *p, const char *path, int error)
{
    struct record_file file = {0};
    int told = record_open(&file, path);
    if (told != error)
        fail_msg("%s: %d, not %d", path, told, error);
    assert_null(file.path);
    assert_null(file.temporary);
    record_abandon(&file);
    assert_said(p, path);
}

static void new_file_is_written_with_the_umasks_mode(void **state)
{
    struct place *p = *state;
    char *path = place_join(p->folder, "r.json");
    struct stat status;
    umask(027);
    save(p, path);
    assert_content(path, place_expected);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal(tree_count(p->folder), 1);
    assert_silent(p);
    free(path);
}

static void relative_path_is_one_of_the_working_folder(void **state)
{
    struct place *p = *state;
    char before[PATH_MAX];
    char *path = place_join(p->folder, "r.json");
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(p->folder), 0);
    save(p, "r.json");
    assert_int_equal(chdir(before), 0);
    assert_content(path, place_expected);
    free(path);
}

static void old_file_stays_whole_until_the_new_one_is(void **state)
{
    struct place *p = *state;
    char *path = place_join(p->folder, "r.json");
    struct record_file file = {0};
    struct stat status;
    tree_put(p->folder, "/r.json", "old");
    assert_int_equal(chmod(path, 0604), 0);
    assert_int_equal(record_open(&file, path), 0);
    assert_content(path, "old");
    assert_int_equal(record_save(&file, p->record), 0);
    assert_content(path, place_expected);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0604);
    assert_int_equal(tree_count(p->folder), 1);
    free(path);
}

static void abandoned_file_leaves_things_as_they_were(void **state)
{
    struct place *p = *state;
    char *path = place_join(p->folder, "r.json");
    struct record_file file = {0};
    record_abandon(&file);
    tree_put(p->folder, "/r.json", "old");
    assert_int_equal(record_open(&file, path), 0);
    assert_int_equal(tree_count(p->folder), file.temporary ? 2 : 1);
    record_abandon(&file);
    record_abandon(&file);
    assert_content(path, "old");
    assert_int_equal(tree_count(p->folder), 1);
    free(path);
}

/* What record_file.c asks before it makes a file without a name. */
static bool has_no_proc;
int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
    return has_no_proc ? -1 : __real_access(path, mode);
}

static void file_gets_a_temporary_name_where_it_can_not_do_without(void **state)
{
    struct place *p = *state;
    char *path = place_join(p->folder, "r.json");
    struct record_file file = {0};
    tree_put(p->folder, "/r.json", "old");
    has_no_proc = true;
    int error = record_open(&file, path);
    has_no_proc = false;
    assert_int_equal(error, 0);
    assert_non_null(file.temporary);
    assert_int_equal(tree_count(p->folder), 2);
    assert_int_equal(record_save(&file, p->record), 0);
    assert_content(path, place_expected);
    assert_int_equal(tree_count(p->folder), 1);
    free(path);
}

static void temporary_file_is_not_inherited(void **state)
{
    struct place *p = *state;
    char *path = place_join(p->folder, "r.json");
    struct record_file file = {0};
    assert_int_equal(record_open(&file, path), 0);
    assert_true(fcntl(file.fd, F_GETFD) & FD_CLOEXEC);
    record_abandon(&file);
    free(path);
}

static void symbolic_link_stays_and_its_target_is_replaced(void **state)
{
    struct place *p = *state;
    char *link = place_join(p->other, "link");
    char *second = place_join(p->other, "second");
    char *path = place_join(p->folder, "r.json");
    struct stat status;
    tree_put(p->folder, "/r.json", "old");
    assert_int_equal(symlink("../folder/r.json", link), 0);
    assert_int_equal(symlink(link, second), 0);
    save(p, second);
    assert_content(path, place_expected);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(tree_count(p->folder), 1);
    assert_int_equal(tree_count(p->other), 2);
    free(link);
    free(second);
    free(path);
}

static void dangling_link_gets_its_target_made(void **state)
{
    struct place *p = *state;
    char *link = place_join(p->other, "link");
    char *path = place_join(p->folder, "new.json");
    assert_int_equal(symlink(path, link), 0);
    save(p, link);
    assert_content(path, place_expected);
    free(link);
    free(path);
}

static void circle_of_links_is_refused(void **state)
{
    struct place *p = *state;
    char *link = place_join(p->folder, "link");
    assert_int_equal(symlink("link", link), 0);
    assert_refused(p, link, -ELOOP);
    free(link);
}

static void fifo_is_written_direct(void **state)
{
    struct place *p = *state;
    char *path = place_join(p->folder, "fifo");
    char got[256] = "";
    struct record_file file = {0};
    struct stat status;
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    save(p, path);
    assert_int_equal(read(reader, got, sizeof(got)), strlen(place_expected));
    assert_string_equal(got, place_expected);
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    assert_int_equal(tree_count(p->folder), 1);

    /* The reader leaves between opening and saving: no SIGPIPE, and nothing is lost. */
    assert_int_equal(record_open(&file, path), 0);
    close(reader);
    assert_int_equal(record_save(&file, p->record), -EPIPE);
    assert_saved_elsewhere(p);
    free(path);
}

static void fifo_without_a_reader_is_refused_at_once(void **state)
{
    struct place *p = *state;
    char *path = place_join(p->folder, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(p, path, -ENXIO);
    assert_said(p, "start the reader first");
    free(path);
}

static void own_descriptor_is_written_after_what_is_there(void **state)
{
    struct place *p = *state;
    char name[64];
    char *path = place_join(p->folder, "out");
    char *link = place_join(p->folder, "link");
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "before\n", 7), 7);
    snprintf(name, sizeof(name), "/dev/fd/%d", fd);
    save(p, name);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    assert_int_equal(symlink(name, link), 0);
    save(p, link);
    assert_int_equal(write(fd, "after\n", 6), 6);
    close(fd);
    char *text = tree_read(path);
    char *whole;
    assert_true(asprintf(&whole, "before\n%s%safter\n", place_expected, place_expected) > 0);
    assert_string_equal(text, whole);
    free(whole);
    free(text);
    assert_refused(p, name, -EBADF);
    free(path);
    free(link);
}

static void full_device_makes_the_record_go_elsewhere(void **state)
{
    struct place *p = *state;
    struct record_file file = {0};
    assert_int_equal(record_open(&file, "/dev/full"), 0);
    assert_int_equal(record_save(&file, p->record), -ENOSPC);
    assert_said(p, "can't write /dev/full: No space left on device");
    assert_saved_elsewhere(p);
}

static void target_that_became_a_folder_makes_the_record_go_elsewhere(void **state)
{
    struct place *p = *state;
    char *path = place_join(p->folder, "r.json");
    struct record_file file = {0};
    assert_int_equal(record_open(&file, path), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(record_save(&file, p->record), -EISDIR);
    assert_int_equal(tree_count(p->folder), 1);
    assert_saved_elsewhere(p);
    free(path);
}

static void folder_that_vanished_makes_the_record_go_elsewhere(void **state)
{
    struct place *p = *state;
    char *path = place_join(p->folder, "r.json");
    struct record_file file = {0};
    assert_int_equal(record_open(&file, path), 0);
    assert_true(!file.temporary || unlink(file.temporary) == 0);
    assert_int_equal(rmdir(p->folder), 0);
    assert_int_equal(record_save(&file, p->record), -ENOENT);
    assert_saved_elsewhere(p);
    free(path);
}

static void places_that_nobody_can_write_are_refused_before_measuring(void **state)
{
    struct place *p = *state;
    char *below_file = place_join(p->folder, "plain/r.json");
    char *no_folder = place_join(p->folder, "missing/r.json");
    char *slash = place_join(p->folder, "missing/");
    char *unix_socket = place_join(p->folder, "socket");
    char *too_long = malloc(strlen(p->folder) + 400);
    sprintf(too_long, "%s/%0300d", p->folder, 0);
    tree_put(p->folder, "/plain", "old");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", unix_socket);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);

    assert_refused(p, "", -ENOENT);
    assert_refused(p, below_file, -ENOTDIR);
    assert_refused(p, no_folder, -ENOENT);
    assert_refused(p, slash, -EISDIR);
    assert_refused(p, p->folder, -EISDIR);
    assert_refused(p, unix_socket, -ENOTSUP);
    assert_refused(p, too_long, -ENAMETOOLONG);
    assert_refused(p, "/proc/rwsem-record.json", -ENOENT);
    assert_int_equal(tree_count(p->folder), 2);
    assert_int_equal(tree_count(p->other), 0);

    close(fd);
    free(below_file);
    free(no_folder);
    free(slash);
    free(unix_socket);
    free(too_long);
}

static void signals_that_were_pending_before_still_are_afterwards(void **state)
{
    struct place *p = *state;
    struct record_file file = {0};
    sigset_t set, pending, before;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, &before), 0);
    assert_int_equal(raise(SIGXFSZ), 0);
    assert_int_equal(record_open(&file, "/dev/null"), 0);
    assert_int_equal(record_save(&file, p->record), 0);
    assert_int_equal(sigpending(&pending), 0);
    assert_true(sigismember(&pending, SIGXFSZ));
    assert_int_equal(sigwaitinfo(&set, NULL), SIGXFSZ);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void no_place_at_all_is_said(void **state)
{
    struct place *p = *state;
    char *nowhere = place_join(p->tree, "nowhere");
    struct record_file file = {0};
    setenv("TMPDIR", nowhere, 1);
    assert_int_equal(record_open(&file, "/dev/full"), 0);
    assert_int_equal(record_save(&file, p->record), -ENOSPC);
    assert_said(p, nowhere);
    /* /tmp is tried next, and can be written by whoever runs this. */
    char *said = tree_read(p->said);
    char *name = strstr(said, "the record went to /tmp/rwsem-record-");
    assert_non_null(name);
    name += strlen("the record went to ");
    *strstr(name, " instead") = '\0';
    assert_content(name, place_expected);
    assert_int_equal(unlink(name), 0);
    free(said);
    free(nowhere);
}

static void frame_has_kind_version_command_time_and_environment(void **state)
{
    char program[] = "/opt/someone/bin/rwsem", word[] = "bench", bad[] = "bad\xff", file[] = "/a/b";
    char *const words[] = {program, word, bad, file, NULL};
    json_t *record = record_new("bench mmap", 4, words);
    assert_non_null(record);
    const json_t *command = json_object_get(record, "command");
    assert_int_equal(json_integer_value(json_object_get(record, "schema")), RECORD_SCHEMA);
    assert_string_equal(json_string_value(json_object_get(record, "kind")), "bench mmap");
    assert_int_equal(json_array_size(command), 4);
    assert_string_equal(json_string_value(json_array_get(command, 0)), "rwsem");
    assert_string_equal(json_string_value(json_array_get(command, 2)), "bad\xef\xbf\xbd");
    assert_string_equal(json_string_value(json_array_get(command, 3)), "/a/b");
    assert_true(json_is_false(json_object_get(record, "complete")));
    assert_true(json_is_object(json_object_get(record, "environment")));
    json_decref(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(new_file_is_written_with_the_umasks_mode),
        IN_PLACE(relative_path_is_one_of_the_working_folder),
        IN_PLACE(old_file_stays_whole_until_the_new_one_is),
        IN_PLACE(abandoned_file_leaves_things_as_they_were),
        IN_PLACE(file_gets_a_temporary_name_where_it_can_not_do_without),
        IN_PLACE(temporary_file_is_not_inherited),
        IN_PLACE(symbolic_link_stays_and_its_target_is_replaced),
        IN_PLACE(dangling_link_gets_its_target_made),
        IN_PLACE(circle_of_links_is_refused),
        IN_PLACE(fifo_is_written_direct),
        IN_PLACE(fifo_without_a_reader_is_refused_at_once),
        IN_PLACE(own_descriptor_is_written_after_what_is_there),
        IN_PLACE(full_device_makes_the_record_go_elsewhere),
        IN_PLACE(target_that_became_a_folder_makes_the_record_go_elsewhere),
        IN_PLACE(folder_that_vanished_makes_the_record_go_elsewhere),
        IN_PLACE(places_that_nobody_can_write_are_refused_before_measuring),
        IN_PLACE(signals_that_were_pending_before_still_are_afterwards),
        IN_PLACE(no_place_at_all_is_said),
        cmocka_unit_test(frame_has_kind_version_command_time_and_environment),
    };
    return cmocka_run_group_tests_name("result/record", tests, NULL, NULL);
}
