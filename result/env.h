/*
 * The parts that make the environment block of a record. Each env_*.c fills groups of facts; what
 * could not be had is null in its group and has its reason under "missing". Nothing that names the
 * host, a user or an address goes in.
 */
#ifndef RESULT_ENV_H
#define RESULT_ENV_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The block while it is being made. */
struct env {
    const char *root; /* whose /proc and /sys; see root.h */
    json_t *all;      /* group name -> group */
    json_t *missing;  /* "group.fact" -> why it is null */
    json_t *group;    /* the group being filled, borrowed from `all` */
    const char *group_name;
    bool is_out_of_memory; /* once set, the block is not handed out */
};

/* How a file is told. */
enum env_form {
    ENV_TEXT,    /* as it stands */
    ENV_INTEGER, /* one number */
    ENV_CHOICE,  /* the [bracketed] one of several words */
};

/* A fact that is one file. */
struct env_fact {
    const char *key;
    enum env_form form;
    const char *path;
};

/* Starts a group; what is put from now on goes there. */
void env_begin(struct env *e, const char *group);

/* Puts a fact. Takes over `value`; NULL there means that memory ran out. */
void env_put(struct env *e, const char *key, json_t *value);

/* Puts a text; bytes that are not UTF-8 become U+FFFD. */
void env_put_text(struct env *e, const char *key, const char *text);

/* Puts null, and the reason. */
__attribute__((format(printf, 3, 4))) void env_put_missing(struct env *e, const char *key,
                                                           const char *why_format, ...);

/* Puts what a file says, or that it could not be read and why. */
void env_put_file(struct env *e, const char *key, enum env_form form, const char *path);
void env_put_files(struct env *e, const struct env_fact *facts, size_t count);

/* The word in brackets in "always [madvise] never", cut out in place; NULL where there is none. */
char *env_bracketed(char *text, char open, char close);

/* Finds a word of the kernel's command line, as `preempt` in "preempt=full"; its value. */
bool env_boot_option(const struct env *e, const char *name, char *value, size_t size);

/* The groups. env_kernel() is in env_kernel.c, the switches it includes in env_config.c, ... */
void env_kernel(struct env *e);
void env_config(struct env *e, const char *release);
void env_cpu(struct env *e);
void env_memory(struct env *e);
void env_limits(struct env *e);
void env_process(struct env *e);
void env_load(struct env *e);
void env_virtual(struct env *e);
void env_software(struct env *e);

/* The "y", "n", "250" of a switch put by env_config(), "CONFIG_" left out; NULL if not known. */
const char *env_config_value(const struct env *e, const char *name);

/* env_collect() of record.h with /proc and /sys of `root`. A new reference; NULL: out of memory. */
json_t *env_collect_from(const char *root);

#endif
