/* What a program that a signal ends takes away with it: files that are not whole yet.
 *
 * The commands name such files here while they are there. A signal that ends the program removes them
 * and then ends it as if it had not been caught, so that a shell sees its usual status. */
#ifndef WB_CLI_INTERRUPT_H
#define WB_CLI_INTERRUPT_H

/* From here on; signals that the program was told to ignore stay ignored. */
void interrupt_catch(void);

/* While held, a signal waits for the release; the same one again ends the program at once. For the
 * moments in which a file and its entry here are not the same: hold, make the file, add it, release;
 * hold, rename it, take it out, release. Nothing that waits for somebody else belongs between. Holds
 * nest. */
void interrupt_hold(void);
void interrupt_release(void);

/* A file, or a folder that is empty once the files added before it are gone. Names longer than a
 * system's longest, and more than there is room for, are not remembered. NULL is allowed. */
void interrupt_add(const char *path);
void interrupt_take_out(const char *path);

#endif
