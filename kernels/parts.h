/* The parts of the message loop, for rooms above that record books into programs of their own: an
 * environment's step is the book's messages and more around them.
 *
 *   book k = {.can = features, .on_trade = account, .context = own};
 *   open_slab(&k, builder, layout);        // arrays; then records, words, taken, next_arrival
 *   tape_reader s = open_tape(&k, first, records);
 *   message m = read_message(&k, &s, n);   // or filled in by hand
 *   m.run = loop;
 *   apply_message(&k, &m);
 *
 * The layout may have more arrays behind the book's own (wb_layout_add on wb_book_layout.layout, before
 * any program is built). Several `book`s over one slab, each with its own features, may be recorded
 * into one program, as long as they share the variables. Include it last. */
#ifndef WB_KERNELS_PARTS_H
#define WB_KERNELS_PARTS_H

#include "kernels/internal.h"

#endif
