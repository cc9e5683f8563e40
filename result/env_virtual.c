/*
 * Whether this is a virtual machine or a container, and whose: hints, each with where it was seen.
 * Absence of hints is told as "none seen", which is no proof.
 */
#include "result/env.h"
#include "result/hypervisor.h"
#include "result/root.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sign {
    const char *text;
    const char *name;
};

/* Signatures of the hypervisor's processor leaf. */
static const struct sign leaf_signs[] = {
    {"KVMKVMKVM", "kvm"},           {"Linux KVM Hv", "kvm"},   {"Microsoft Hv", "hyperv"},
    {"VMwareVMware", "vmware"},     {"XenVMMXenVMM", "xen"},   {"TCGTCGTCGTCG", "qemu"},
    {"VBoxVBoxVBox", "virtualbox"}, {"bhyve bhyve ", "bhyve"}, {"ACRNACRNACRN", "acrn"},
    {" lrpepyh  vr", "parallels"},  {"QNXQVMBSQG", "qnx"},     {"SRESRESRESRE", "lockheed"},
};

/* Words in the firmware's names of the machine. */
static const struct sign firmware_signs[] = {
    {"KVM", "kvm"},
    {"QEMU", "qemu"},
    {"Amazon EC2", "amazon"}, /* bare-metal instances say so in their product name */
    {"Google Compute Engine", "google"},
    {"VMware", "vmware"},
    {"VirtualBox", "virtualbox"},
    {"innotek", "virtualbox"},
    {"Virtual Machine", "hyperv"},
    {"Xen", "xen"},
    {"Bochs", "bochs"},
    {"Parallels", "parallels"},
    {"BHYVE", "bhyve"},
    {"OpenStack", "openstack"},
    {"Hetzner vServer", "kvm"},
    {"Apple Virtualization", "apple"},
};

/* Words in the control group's path, or in a file. */
static const struct sign container_signs[] = {
    {"kubepods", "kubernetes"},
    {"docker", "docker"},
    {"libpod", "podman"},
    {"containerd", "containerd"},
    {"crio-", "cri-o"},
    {"lxc", "lxc"},
    {"machine.slice/systemd-nspawn", "systemd-nspawn"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *match(const struct sign *signs, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (strstr(text, signs[i].text))
            return signs[i].name;
    }
    return NULL;
}

static void put_found(struct env *e, const char *key, const char *name, const char *source)
{
    char source_key[64];
    snprintf(source_key, sizeof(source_key), "%s_source", key);
    env_put_text(e, key, name);
    env_put_text(e, source_key, source);
}

/* Whether /proc/cpuinfo's first "flags" line has `hypervisor`; false also where there is none. */
static bool has_hypervisor_flag(const struct env *e)
{
    FILE *file = root_open(e->root, "/proc/cpuinfo");
    if (!file)
        return false;
    char *line = NULL;
    size_t size = 0;
    bool has_flag = false;
    while (getline(&line, &size, file) > 0) {
        if (strncmp(line, "flags", 5) != 0)
            continue;
        has_flag = strstr(line, " hypervisor") != NULL;
        break;
    }
    free(line);
    fclose(file);
    return has_flag;
}

/* What the firmware calls the machine's maker and model; the first name that gives it away. */
static const char *firmware_hypervisor(const struct env *e, const char **source)
{
    static const char *const files[] = {
        "/sys/class/dmi/id/product_name",
        "/sys/class/dmi/id/sys_vendor",
        "/sys/class/dmi/id/board_vendor",
        "/sys/class/dmi/id/bios_vendor",
    };
    char text[256];
    root_read(e->root, text, sizeof(text), "%s", files[0]);
    if (strstr(text, ".metal"))
        return NULL;
    for (size_t i = 0; i < COUNT(files); i++) {
        const char *name = NULL;
        if (root_read(e->root, text, sizeof(text), "%s", files[i]) > 0)
            name = match(firmware_signs, COUNT(firmware_signs), text);
        if (name) {
            *source = files[i];
            return name;
        }
    }
    return NULL;
}

static void put_hypervisor(struct env *e)
{
    char signature[13] = "";
    char text[128];
    const char *name = NULL;
    const char *source = NULL;
    /* The processor knows nothing of made-up roots. */
    bool is_asked = e->root[0] == '\0' && cpuid_hypervisor(signature);
    if (is_asked)
        name = match(leaf_signs, COUNT(leaf_signs), signature);
    if (name) {
        put_found(e, "hypervisor", name, "cpuid");
    } else if (root_read(e->root, text, sizeof(text), "/sys/hypervisor/type") > 0) {
        put_found(e, "hypervisor", text, "/sys/hypervisor/type");
    } else if ((name = firmware_hypervisor(e, &source)) != NULL) {
        put_found(e, "hypervisor", name, source);
    } else if (root_read(e->root, text, sizeof(text), "/proc/device-tree/hypervisor/compatible") >
               0) {
        put_found(e, "hypervisor", text, "/proc/device-tree/hypervisor/compatible");
    } else if (is_asked || has_hypervisor_flag(e)) {
        put_found(e, "hypervisor", "unknown", "hypervisor flag in /proc/cpuinfo");
    } else {
        put_found(e, "hypervisor", "none seen", "cpuid, /sys/hypervisor, DMI, device tree");
    }
}

static bool is_there(const struct env *e, const char *path)
{
    FILE *file = root_open(e->root, "%s", path);
    if (file)
        fclose(file);
    return file != NULL;
}

static void put_container(struct env *e)
{
    char text[4096];
    const char *name;
    if (root_read(e->root, text, sizeof(text), "/run/systemd/container") > 0) {
        put_found(e, "container", text, "/run/systemd/container");
    } else if (is_there(e, "/.dockerenv")) {
        put_found(e, "container", "docker", "/.dockerenv");
    } else if (is_there(e, "/run/.containerenv")) {
        put_found(e, "container", "podman", "/run/.containerenv");
    } else if (root_read(e->root, text, sizeof(text), "/proc/self/cgroup") > 0 &&
               (name = match(container_signs, COUNT(container_signs), text)) != NULL) {
        put_found(e, "container", name, "/proc/self/cgroup");
    } else if (root_read(e->root, text, sizeof(text), "/proc/sys/kernel/osrelease") > 0 &&
               (strstr(text, "icrosoft"))) {
        put_found(e, "container", "wsl", "/proc/sys/kernel/osrelease");
    } else {
        put_found(e, "container", "none seen",
                  "/run/systemd/container, /.dockerenv, /run/.containerenv, /proc/self/cgroup");
    }
}

/* The model of the machine, from DMI or the device tree; no serial numbers are there. */
static void put_product(struct env *e)
{
    static const char *const files[] = {"/sys/class/dmi/id/product_name",
                                        "/proc/device-tree/model"};
    char text[256];
    int error = 0;
    for (size_t i = 0; i < COUNT(files); i++) {
        int length = root_read(e->root, text, sizeof(text), "%s", files[i]);
        if (length > 0) {
            env_put_text(e, "product", text);
            return;
        }
        error = length < 0 ? length : -ENOMSG;
    }
    env_put_missing(e, "product", "%s and %s: %s", files[0], files[1], strerror(-error));
}

void env_virtual(struct env *e)
{
    env_begin(e, "machine");
    put_product(e);
    put_hypervisor(e);
    put_container(e);
}
