/*
 * Arm processors by the numbers of their main identification register, as their makers' reference
 * manuals and the kernel's cputype.h give them: those that one meets in servers and boards.
 */
#include "result/midr.h"
#include <stdio.h>

static const struct {
    unsigned implementer;
    unsigned part;
    const char *name;
} known[] = {
    {0x41, 0xd03, "Cortex-A53"},          {0x41, 0xd04, "Cortex-A35"},
    {0x41, 0xd05, "Cortex-A55"},          {0x41, 0xd07, "Cortex-A57"},
    {0x41, 0xd08, "Cortex-A72"},          {0x41, 0xd09, "Cortex-A73"},
    {0x41, 0xd0a, "Cortex-A75"},          {0x41, 0xd0b, "Cortex-A76"},
    {0x41, 0xd0c, "Neoverse-N1"},         {0x41, 0xd0d, "Cortex-A77"},
    {0x41, 0xd40, "Neoverse-V1"},         {0x41, 0xd41, "Cortex-A78"},
    {0x41, 0xd44, "Cortex-X1"},           {0x41, 0xd46, "Cortex-A510"},
    {0x41, 0xd47, "Cortex-A710"},         {0x41, 0xd48, "Cortex-X2"},
    {0x41, 0xd49, "Neoverse-N2"},         {0x41, 0xd4d, "Cortex-A715"},
    {0x41, 0xd4e, "Cortex-X3"},           {0x41, 0xd4f, "Neoverse-V2"},
    {0x41, 0xd80, "Cortex-A520"},         {0x41, 0xd81, "Cortex-A720"},
    {0x41, 0xd82, "Cortex-X4"},           {0x41, 0xd84, "Neoverse-V3"},
    {0x41, 0xd8e, "Neoverse-N3"},         {0x43, 0x0a1, "ThunderX"},
    {0x43, 0x0af, "ThunderX2"},           {0x46, 0x001, "A64FX"},
    {0x48, 0xd01, "Kunpeng-920"},         {0x51, 0x001, "Oryon"},
    {0x61, 0x022, "Apple M1 efficiency"}, {0x61, 0x023, "Apple M1 performance"},
    {0x61, 0x032, "Apple M2 efficiency"}, {0x61, 0x033, "Apple M2 performance"},
    {0xc0, 0xac3, "AmpereOne"},           {0xc0, 0xac4, "AmpereOne A"},
};

void midr_name(unsigned implementer, unsigned part, char *name, size_t size)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].implementer == implementer && known[i].part == part) {
            snprintf(name, size, "%s", known[i].name);
            return;
        }
    }
    snprintf(name, size, "implementer 0x%02x part 0x%03x", implementer, part);
}
