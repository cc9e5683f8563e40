/*
 * The record: one versioned JSON object that every measuring command writes and every report
 * reads. record.c makes the frame (kind, version, command line, time, environment), record_file.c
 * puts it on disk; what goes inside is each kind's own (docs/record.schema.json has it all).
 */
#ifndef RESULT_RECORD_H
#define RESULT_RECORD_H

#include <jansson.h>
#include <stdio.h>

#define RECORD_SCHEMA 1

/*
 * {"schema":1,"kind":...,"rwsem":...,"command":[...],"started":...,"environment":{...},
 * "complete":false}. The first word of the command is cut to its last component, the rest is as
 * typed. NULL when memory ran out.
 */
json_t *record_new(const char *kind, int argc, char *const argv[]);

/* The machine, the kernel and what limits this process; see docs/record.schema.json. */
json_t *env_collect(void);

/*
 * The record as one line of text with its line feed, as it stands in files: to be freed. NULL when
 * memory ran out.
 */
char *record_text(const json_t *record);

/* How an output file is doing; zero it, then record_open(). */
struct record_file {
    char *path;      /* as asked for, for messages; NULL while nothing is open */
    char *target;    /* what is replaced: path with symbolic links followed; NULL: written direct */
    char *temporary; /* where it is being written: same folder, removed unless renamed; NULL: a
                      * file that gets its name only when it is whole, where the system has such */
    int fd;          /* of the temporary file, or of what is written direct */
};

/*
 * Opens the way to `path` before anything is measured, so that a folder that can't be written is
 * found out at once. Never blocks. Returns 0 or a negative errno, with a message on stderr that
 * names the path and what to try.
 *
 * A new or regular file: creates a temporary file in the same folder; what is at `path` stays whole
 * until record_save(). The new file has the mode of the one it replaces, or what the umask leaves.
 * A file without write permission is refused, although its folder would allow the replacement.
 * A symbolic link: stays, and what it points to is replaced, or made.
 * A FIFO, terminal or other character device: written direct. A FIFO that nobody has open for
 * reading is refused rather than waited for.
 * /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N: written to that descriptor as it is, after
 * what was written to it before.
 * A folder, a socket, a block device: refused. ("-" is no name of anything here; callers handle
 * it.)
 */
int record_open(struct record_file *file, const char *path);

/*
 * Writes `record`, has it on disk (fsync) and renames it into place; the folder is not synced, so
 * after a power failure either the old file or the new one is there, whole. When that fails (a full
 * disk), tries a new file, for its owner only, in $TMPDIR and then /tmp instead, so that nothing
 * measured is lost, and says on stderr what failed and where it went. Returns 0 only if it is where
 * it was asked to be, else the negative errno of what failed first. Closes and frees `file` either
 * way; no temporary file stays.
 *
 * A file-size limit or a vanished reader of a FIFO is an error like others: SIGXFSZ and SIGPIPE are
 * held back meanwhile.
 */
int record_save(struct record_file *file, const json_t *record);

/* Gives it up: removes the temporary file. Safe on a zeroed or closed one. */
void record_abandon(struct record_file *file);

#endif
