/* From LOBSTER rows to records, rule by rule, on texts of a few lines. */
#include "lobster_texts.h"

#include <criterion/criterion.h>
#include <string.h>

#define DUMMY_ASK    "9999999999,0"
#define DUMMY_BID    "-9999999999,0"
#define RECORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- row 0 ---- */

Test(seed, is_one_anonymous_order_per_level_asks_then_bids) {
  wb_tape *t = accepted("34200,5,0,1,10050,1\n", "10100,7,10000,8,10200,9,9900,10\n");
  cr_assert_eq(t->seed_count, 4);
  const wb_order expected[] = {{0, 10100, 7, 1, 0, WB_SIDE_ASK, 0},
                               {1, 10200, 9, 2, 0, WB_SIDE_ASK, 0},
                               {2, 10000, 8, 3, 0, WB_SIDE_BID, 0},
                               {3, 9900, 10, 4, 0, WB_SIDE_BID, 0}};
  for (int i = 0; i < 4; i++) {
    cr_expect_eq(memcmp(&t->seed[i], &expected[i], sizeof expected[i]), 0, "order %d", i);
    cr_expect_eq(t->ids[i], 0);
  }
  expect_records(t, RECORDS("NOTE 0 x 1 row 0 end"));
  wb_tape_free(t);
}

Test(seed, the_first_submission_is_split_off_its_level_as_the_newest_order) {
  wb_tape *t = accepted("34200,1,77,3,10100,-1\n", "10100,7,10000,8,10200,9,9900,10\n");
  cr_assert_eq(t->seed_count, 5);
  cr_expect_eq(t->seed[0].qty, 4);
  cr_expect_eq(t->seed[1].qty, 3);
  cr_expect_eq(t->seed[1].ref, 4);
  cr_expect_eq(t->seed[1].arrival, 5);
  cr_expect_eq(t->ids[4], 77);
  cr_expect_eq(t->record_count, 0, "message 0 is not applied again");
  wb_tape_free(t);
}

Test(seed, a_first_submission_that_is_its_whole_level_leaves_no_other_order_there) {
  wb_tape *t = accepted("34200,1,77,7,10100,-1\n", "10100,7,10000,8\n");
  cr_assert_eq(t->seed_count, 2);
  cr_expect_eq(t->ids[t->seed[0].ref], 77);
  cr_expect_eq(t->seed[0].arrival, 2);
  wb_tape_free(t);
}

Test(seed, a_first_submission_that_the_book_row_does_not_hold_is_a_contradiction) {
  wb_tape *t = accepted("34200,1,77,8,10100,-1\n", "10100,7,10000,8\n");
  cr_expect_eq(t->seed_count, 2);
  cr_expect_eq(t->counts.contradictions, 1);
  cr_expect_str_eq(t->findings[0].text, "m.csv line 1: size: the first book row does not hold the "
                                        "order that was submitted");
  wb_tape_free(t);
}

Test(seed, an_execution_in_row_0_is_not_applied_but_counted) {
  wb_tape *t = accepted("34200,4,5,3,10100,-1\n", "10100,7,10000,8\n");
  cr_expect_eq(t->record_count, 0);
  cr_expect_eq(t->counts.rows_execution, 1);
  cr_expect_eq(t->counts.unknown_executions, 1);
  wb_tape_free(t);
}

Test(seed, a_halt_in_row_0_holds_from_the_start) {
  /* the book is crossed and nothing is flagged */
  wb_tape *t =
      accepted("34200,7,0,0,-1,-1\n34201,1,5,4,10200,1\n", "10100,7,10000,8\n10100,7,10200,4\n");
  expect_records(t, RECORDS("STATE 2 row 0 end", "ADD bid ref 2 10200 x 4 row 1 end"));
  cr_expect_eq(t->counts.crossed_rows, 0);
  wb_tape_free(t);
}

Test(seed, a_level_beyond_32_bits_is_several_orders) {
  wb_tape *t = accepted("34200,5,0,1,10100,1\n", "10100,5000000000,10000,8\n");
  cr_assert_eq(t->seed_count, 4);
  cr_expect_eq(t->seed[0].qty, INT32_MAX);
  cr_expect_eq(t->seed[2].qty, 5000000000 - 2 * (int64_t)INT32_MAX);
  cr_expect_eq(t->book_qty[0], 5000000000);
  wb_tape_free(t);
}

/* ---- messages ---- */

Test(messages, each_type_becomes_its_record) {
  wb_tape *t = accepted("34200,1,1,10,10000,1\n"  /* split off row 0 */
                        "34200,1,2,20,10000,1\n"  /* waits behind it */
                        "34200,2,2,5,10000,1\n"   /* reduced */
                        "34200,4,1,4,10000,1\n"   /* executed in part */
                        "34200,3,1,6,10000,1\n"   /* deleted */
                        "34200,2,2,15,10000,1\n"  /* a reduction of all that is left */
                        "34200,6,-1,50,10050,1\n" /* an auction print */
                        "34200,7,0,0,0,-1\n"      /* quoting */
                        "34200,7,0,0,1,-1\n",     /* trading */
                        "10100,7,10000,10\n"
                        "10100,7,10000,30\n"
                        "10100,7,10000,25\n"
                        "10100,7,10000,21\n"
                        "10100,7,10000,15\n"
                        "10100,7," DUMMY_BID "\n"
                        "10100,7," DUMMY_BID "\n"
                        "10100,7," DUMMY_BID "\n"
                        "10100,7," DUMMY_BID "\n");
  expect_records(t, RECORDS("ADD bid ref 2 10000 x 20 row 1 end", "REDUCE bid ref 2 x 5 row 2 end",
                            "EXECUTE bid ref 1 10000 x 4 row 3 end", "DELETE bid ref 1 row 4 end",
                            "DELETE bid ref 2 row 5 end", "NOTE 1 x 50 row 6 end",
                            "STATE 1 row 7 end", "STATE 0 row 8 end"));
  cr_expect_eq(t->counts.repeated_times, 8);
  cr_expect_eq(t->counts.auction_volume, 50);
  wb_tape_free(t);
}

Test(messages, an_unknown_id_takes_from_anonymous_orders_oldest_first) {
  wb_tape *t = accepted("34200,5,0,1,10050,1\n34200,1,9,5,10000,1\n34200,4,3,8,10000,1\n",
                        "10100,7,10000,8\n10100,7,10000,13\n10100,7,10000,5\n");
  cr_expect_str_eq(record_text(t, 2), "EXECUTE bid ref 1 10000 x 8 row 2 end");
  cr_expect_eq(t->counts.unknown_ids, 1);
  cr_expect_eq(t->counts.unknown_shares, 8);
  wb_tape_free(t);
}

Test(messages, of_anonymous_orders_the_oldest_gives_first) {
  /* at 10100: 7 from row 0, 2 that joined them out of sight */
  wb_tape *t = accepted("34200,5,0,1,10050,1\n34200,1,2,3,10050,-1\n34200,3,2,3,10050,-1\n"
                        "34200,4,9,8,10100,-1\n",
                        "10100,7,10000,5\n10050,3,10000,5\n10100,9,10000,5\n10100,1,10000,5\n");
  expect_records(t, RECORDS("NOTE 0 x 1 row 0 end", "ADD ask ref 2 10050 x 3 row 1 end",
                            "DELETE ask ref 2 row 2", "ADD ask ref 3 10100 x 2 EDGE row 2 end",
                            "EXECUTE ask ref 0 10100 x 7 row 3",
                            "EXECUTE ask ref 3 10100 x 1 row 3 end"));
  wb_tape_free(t);
}

Test(messages, what_anonymous_orders_lack_comes_from_named_ones_newest_first) {
  wb_tape *t = accepted("34200,5,0,1,10050,1\n34200,1,8,5,10000,1\n34200,1,9,5,10000,1\n"
                        "34200,3,3,11,10000,1\n",
                        "10100,7,10000,2\n10100,7,10000,7\n10100,7,10000,12\n10100,7,10000,1\n");
  expect_records(t, RECORDS("NOTE 0 x 1 row 0 end", "ADD bid ref 2 10000 x 5 row 1 end",
                            "ADD bid ref 3 10000 x 5 row 2 end", "DELETE bid ref 1 row 3",
                            "DELETE bid ref 3 row 3", "REDUCE bid ref 2 x 4 row 3 end"));
  wb_tape_free(t);
}

Test(messages, a_named_order_gives_what_it_holds_and_others_the_rest) {
  wb_tape *t = accepted("34200,1,8,5,10000,1\n34200,4,8,9,10000,1\n",
                        "10100,7,10000,25\n10100,7,10000,16\n");
  expect_records(
      t, RECORDS("EXECUTE bid ref 2 10000 x 5 row 1", "EXECUTE bid ref 1 10000 x 4 row 1 end"));
  cr_expect_eq(t->counts.unknown_ids, 0);
  wb_tape_free(t);
}

Test(messages, an_id_may_be_used_again_after_its_end_and_gets_a_new_reference) {
  wb_tape *t = accepted("34200,1,8,5,10000,1\n34200,3,8,5,10000,1\n34200,1,8,6,9900,1\n",
                        "10100,7,10000,5\n10100,7," DUMMY_BID "\n10100,7,9900,6\n");
  expect_records(t, RECORDS("DELETE bid ref 1 row 1 end", "ADD bid ref 2 9900 x 6 row 2 end"));
  cr_expect_eq(t->ref_count, 3);
  cr_expect_eq(t->ids[1], 8);
  cr_expect_eq(t->ids[2], 8);
  wb_tape_free(t);
}

Test(messages, a_row_that_nothing_can_resolve_is_a_note_and_a_contradiction) {
  wb_tape *t =
      accepted("34200,5,0,1,10050,1\n34200,3,8,5,9000,1\n", "10100,7,10000,5\n10100,7,10000,5\n");
  expect_records(t, RECORDS("NOTE 0 x 1 row 0 end", "NOTE 2 x 5 row 1 end"));
  cr_expect_eq(t->counts.contradictions, 1);
  cr_expect_eq(t->findings[0].kind, WB_FINDING_CONTRADICTION);
  cr_expect_eq(t->findings[0].row, 1);
  cr_expect_str_eq(t->findings[0].text, "m.csv line 2: size: takes 5 shares at 9000, where 0 rest");
  wb_tape_free(t);
}

Test(messages, a_named_order_that_rests_elsewhere_is_not_the_one_meant) {
  wb_tape *t =
      accepted("34200,1,8,5,10000,1\n34200,4,8,5,10100,-1\n", "10100,7,10000,5\n10100,2,10000,5\n");
  expect_records(t, RECORDS("EXECUTE ask ref 0 10100 x 5 row 1 end"));
  wb_tape_free(t);
}

Test(messages, a_late_add_has_a_smaller_id_than_the_newest_named_order_there) {
  wb_tape *t = accepted("34200,1,8,5,10000,1\n34200,1,7,5,10000,1\n34200,1,6,5,9900,1\n",
                        "10100,7,10000,5,10200,1,9900,3\n10100,7,10000,10,10200,1,9900,3\n"
                        "10100,7,10000,10,10200,1,9900,8\n");
  cr_expect_eq(t->counts.late_adds, 1);
  wb_tape_free(t);
}

Test(messages, a_submission_that_locks_or_crosses_while_trading_is_flagged_and_reported) {
  static const char messages[] = "34200,5,0,1,10050,1\n34200,1,8,5,10100,1\n",
                    book[] = "10100,7,10000,5\n10100,7,10100,5\n";
  wb_tape *t = accepted(messages, book);
  cr_expect_str_eq(record_text(t, 1), "ADD bid ref 2 10100 x 5 NO_MATCH row 1 end");
  cr_expect_eq(t->counts.crossed_rows, 1);
  cr_expect_eq(t->findings[0].kind, WB_FINDING_CROSSED);
  cr_expect_str_eq(t->findings[0].text,
                   "m.csv line 2: the submission at 10100 locks or crosses the book while trading");
  wb_tape_free(t);
  refused_with(messages, book, &(wb_read_options){.strict = true}, WB_ERROR_FORMAT,
               "m.csv line 2: price: expected a submission that rests, got 10100, which locks or "
               "crosses the book while trading");
}

Test(messages, while_halted_orders_rest_crossed_by_themselves) {
  wb_tape *t = accepted("34200,5,0,1,10050,1\n34200,7,0,0,-1,-1\n34200,1,8,5,10300,1\n",
                        "10100,7,10000,5\n10100,7,10000,5\n10100,7,10300,5\n");
  cr_expect_str_eq(record_text(t, 2), "ADD bid ref 2 10300 x 5 row 2 end");
  cr_expect_eq(t->counts.crossed_rows, 0);
  wb_tape_free(t);
}

/* ---- the moving window ---- */

Test(window, a_level_that_slides_in_is_an_anonymous_order) {
  wb_tape *t = accepted("34200,5,0,1,10050,1\n34200,3,9,7,10100,-1\n",
                        "10100,7,10000,5\n10300,40,10000,5\n");
  expect_records(t, RECORDS("NOTE 0 x 1 row 0 end", "DELETE ask ref 0 row 1",
                            "ADD ask ref 2 10300 x 40 EDGE row 1 end"));
  cr_expect_eq(t->ids[2], 0);
  cr_expect_eq(t->counts.edge_corrections, 1);
  cr_expect_eq(t->counts.edge_adds, 1);
  wb_tape_free(t);
}

Test(window, a_level_that_comes_back_unchanged_keeps_its_queue) {
  wb_tape *t = accepted("34200,1,1,7,10100,-1\n34200,1,2,3,10050,-1\n34200,3,2,3,10050,-1\n",
                        "10100,7,10000,5\n10050,3,10000,5\n10100,7,10000,5\n");
  expect_records(t, RECORDS("ADD ask ref 2 10050 x 3 row 1 end", "DELETE ask ref 2 row 2 end"));
  cr_expect_eq(t->counts.edge_records, 0);
  wb_tape_free(t);
}

Test(window, a_level_that_comes_back_larger_has_an_anonymous_order_at_its_end) {
  wb_tape *t = accepted("34200,1,1,7,10100,-1\n34200,1,2,3,10050,-1\n34200,3,2,3,10050,-1\n",
                        "10100,7,10000,5\n10050,3,10000,5\n10100,9,10000,5\n");
  cr_expect_str_eq(record_text(t, 2), "ADD ask ref 3 10100 x 2 EDGE row 2 end");
  wb_tape_free(t);
}

Test(window, a_level_that_comes_back_smaller_lost_its_newest_shares_named_or_not) {
  /* at 10100: 4 anonymous, 7 of id 1, 3 of id 2; 5 are missing when it returns */
  wb_tape *t = accepted("34200,1,1,7,10100,-1\n34200,1,2,3,10100,-1\n34200,1,3,1,10050,-1\n"
                        "34200,3,3,1,10050,-1\n",
                        "10100,11,10000,5\n10100,14,10000,5\n10050,1,10000,5\n10100,9,10000,5\n");
  expect_records(t, RECORDS("ADD ask ref 3 10100 x 3 row 1 end",
                            "ADD ask ref 4 10050 x 1 row 2 end", "DELETE ask ref 4 row 3",
                            "DELETE ask ref 3 EDGE row 3", "REDUCE ask ref 2 x 2 EDGE row 3 end"));
  cr_expect_eq(t->counts.edge_corrections, 1);
  cr_expect_eq(t->counts.edge_deletes, 1);
  cr_expect_eq(t->counts.edge_reduces, 1);
  wb_tape_free(t);
}

Test(window, a_ghost_is_taken_away) {
  wb_tape *t = accepted("34200,1,1,7,10100,-1\n34200,1,2,3,10050,-1\n34200,3,2,3,10050,-1\n",
                        "10100,7,10000,5\n10050,3,10000,5\n10200,9,10000,5\n");
  expect_records(t,
                 RECORDS("ADD ask ref 2 10050 x 3 row 1 end", "DELETE ask ref 2 row 2",
                         "DELETE ask ref 1 EDGE row 2", "ADD ask ref 3 10200 x 9 EDGE row 2 end"));
  cr_expect_eq(t->counts.edge_corrections, 2);
  wb_tape_free(t);
}

Test(window, ghosts_below_an_emptied_side_go_too) {
  wb_tape *t =
      accepted("34200,1,1,7,10100,-1\n34200,1,2,4,10060,-1\n34200,1,3,3,10050,-1\n"
               "34200,3,3,3,10050,-1\n",
               "10100,7,10000,5\n10060,4,10000,5\n10050,3,10000,5\n" DUMMY_ASK ",10000,5\n");
  expect_records(t, RECORDS("ADD ask ref 2 10060 x 4 row 1 end",
                            "ADD ask ref 3 10050 x 3 row 2 end", "DELETE ask ref 3 row 3",
                            "DELETE ask ref 2 EDGE row 3", "DELETE ask ref 1 EDGE row 3 end"));
  cr_expect_eq(t->counts.edge_corrections, 2);
  wb_tape_free(t);
}

Test(window, levels_beyond_three_times_the_depth_are_dropped) {
  wb_tape *t = accepted("34200,1,1,7,10500,-1\n34200,1,2,7,10400,-1\n34200,1,3,7,10300,-1\n"
                        "34200,1,4,7,10200,-1\n",
                        "10500,7,10000,5\n10400,7,10000,5\n10300,7,10000,5\n10200,7,10000,5\n");
  cr_expect_str_eq(record_text(t, 3), "DELETE ask ref 1 EDGE row 3 end");
  cr_expect_eq(t->counts.edge_dropped, 1);
  cr_expect_eq(t->counts.edge_deletes, 0, "drops are counted apart");
  cr_expect_eq(t->counts.edge_corrections, 0);
  cr_expect_eq(t->counts.edge_records, 1);
  wb_tape_free(t);
}

Test(window, an_order_that_was_dropped_is_known_but_rests_no_more) {
  wb_tape *t =
      accepted("34200,1,1,7,10500,-1\n34200,1,2,7,10400,-1\n34200,1,3,7,10300,-1\n"
               "34200,1,4,7,10200,-1\n34200,3,4,7,10200,-1\n34200,3,3,7,10300,-1\n"
               "34200,3,2,7,10400,-1\n34200,3,1,7,10500,-1\n",
               "10500,7,10000,5\n10400,7,10000,5\n10300,7,10000,5\n10200,7,10000,5\n"
               "10300,7,10000,5\n10400,7,10000,5\n10500,7,10000,5\n" DUMMY_ASK ",10000,5\n");
  cr_expect_eq(t->counts.unknown_ids, 0);
  cr_expect_eq(t->counts.contradictions, 0);
  cr_expect_str_eq(record_text(t, t->record_count - 1), "DELETE ask ref 5 row 7 end");
  wb_tape_free(t);
}

Test(window, what_slides_in_across_the_other_side_does_not_match) {
  /* a crossed book outside a halt: the bid that slides in is above the best ask */
  wb_tape *t =
      accepted("34200,5,0,1,10050,1\n34200,3,9,5,10300,1\n", "10100,7,10300,5\n10100,7,10200,4\n");
  cr_expect_str_eq(record_text(t, 2), "ADD bid ref 2 10200 x 4 NO_MATCH EDGE row 1 end");
  wb_tape_free(t);
}

/* ---- contradictions ---- */

Test(contradiction, inside_the_window_nothing_is_mended) {
  /* row 1 changes at the best ask, which no message says */
  wb_tape *t = accepted("34200,5,0,1,10050,1\n34200,5,0,1,10050,1\n34200,5,0,1,10050,1\n",
                        "10100,7,10000,5\n10100,6,10000,5\n10100,7,10000,5\n");
  cr_expect_eq(t->counts.edge_records, 0);
  cr_expect_eq(t->counts.contradictions, 1, "row 2 agrees again");
  cr_assert_eq(t->finding_count, 1);
  cr_expect_eq(t->findings[0].row, 1);
  cr_expect_str_eq(t->findings[0].text, "b.csv line 2: ask level 1: expected 7 shares at 10100 "
                                        "after the messages so far, got 6");
  wb_tape_free(t);
}

Test(contradiction, strict_stops_there) {
  refused_with("34200,5,0,1,10050,1\n34200,5,0,1,10050,1\n", "10100,7,10000,5\n10100,7,10000,4\n",
               &(wb_read_options){.strict = true}, WB_ERROR_FORMAT,
               "b.csv line 2: bid level 1: expected 5 shares at 10000 after the messages so far, "
               "got 4");
}

Test(contradiction, a_side_that_showed_fewer_levels_hid_nothing) {
  /* the second ask of rows 1 and 2 is said by no message; row 0 and row 1 show where the side ends */
  wb_tape *t = accepted("34200,5,0,1,10050,1\n34200,5,0,1,10050,1\n34200,5,0,1,10050,1\n"
                        "34200,5,0,1,10050,1\n",
                        "10100,7,10000,5," DUMMY_ASK ",9900,5\n10100,7,10000,5,10200,3,9900,5\n"
                        "10100,7,10000,5," DUMMY_ASK ",9900,5\n10100,7,10000,5,10200,3,9900,5\n");
  cr_expect_eq(t->counts.edge_records, 0);
  cr_expect_eq(t->counts.contradictions, 2);
  cr_assert_eq(t->finding_count, 2);
  cr_expect_str_eq(t->findings[0].text, "b.csv line 2: ask level 2: expected 0 shares at 10200 "
                                        "after the messages so far, got 3");
  cr_expect_eq(t->findings[1].row, 3);
  wb_tape_free(t);
}

Test(contradiction, a_level_inside_the_window_that_vanishes_stays_in_the_book) {
  wb_tape *t = accepted("34200,5,0,1,10050,1\n34200,5,0,1,10050,1\n",
                        "10100,7,10000,5,10200,4,9900,5\n10200,4,10000,5,10300,1,9900,5\n");
  /* the row's last level, out of sight before, is added all the same */
  expect_records(t, RECORDS("NOTE 0 x 1 row 0 end", "NOTE 0 x 1 row 1",
                            "ADD ask ref 4 10300 x 1 EDGE row 1 end"));
  cr_expect_eq(t->counts.contradictions, 1);
  wb_tape_free(t);
}

Test(contradiction, an_execution_larger_than_the_level_is_named_with_its_row) {
  wb_tape *t =
      accepted("34200,5,0,1,10050,1\n34200,4,3,9,10100,-1\n", "10100,7,10000,5\n10300,1,10000,5\n");
  cr_expect_str_eq(record_text(t, 1), "EXECUTE ask ref 0 10100 x 7 row 1");
  cr_expect_eq(t->counts.contradictions, 1);
  cr_expect_str_eq(t->findings[0].text,
                   "m.csv line 2: size: takes 9 shares at 10100, where 7 rest");
  wb_tape_free(t);
}

Test(contradiction, only_the_first_thousand_are_listed) {
  char messages[1500 * 24] = "", book[1500 * 24] = "";
  size_t m = 0, b = 0;
  for (int i = 0; i < 1200; i++) {
    m += (size_t)sprintf(messages + m, "34200,5,0,1,10050,1\n");
    b += (size_t)sprintf(book + b, "10100,%d,10000,5\n", i % 2 == 0 ? 7 : 6);
  }
  sprintf(messages + m, "34200,5,0,1,10050,1\n");
  sprintf(book + b, "10100,6,10000,5\n");
  wb_tape *t = accepted(messages, book);
  cr_expect_eq(t->counts.contradictions, 601);
  wb_tape_free(t);
  for (int i = 1; i < 1200; i++) {
    book[i * 16 + 6] = '9';
  }
  t = accepted(messages, book);
  cr_expect_eq(t->counts.contradictions, 1200);
  cr_expect_eq(t->finding_count, WB_FINDINGS_KEPT);
  wb_tape_free(t);
}

/* ---- messages only ---- */

Test(alone, starts_from_an_empty_book_and_notes_what_it_cannot_know) {
  wb_tape *t = accepted("34200,1,1,10,10000,1\n34200,4,1,4,10000,1\n34200,3,99,5,10000,1\n"
                        "34200,3,1,6,10000,1\n34200,5,0,3,10050,1\n",
                        NULL);
  expect_records(t, RECORDS("ADD bid ref 0 10000 x 10 row 0 end",
                            "EXECUTE bid ref 0 10000 x 4 row 1 end", "NOTE 2 x 5 row 2 end",
                            "DELETE bid ref 0 row 3 end", "NOTE 0 x 3 row 4 end"));
  cr_expect(t->depth_unknown);
  cr_expect_eq(t->levels, 0);
  cr_expect_eq(t->seed_count, 0);
  cr_expect_eq(t->source_count, 1);
  cr_expect_eq(t->counts.unknown_ids, 1);
  wb_tape_free(t);
}

Test(alone, a_deletion_takes_all_of_its_order_whatever_its_size) {
  wb_tape *t = accepted("34200,1,1,10,10000,1\n34200,3,1,6,10000,1\n", NULL);
  cr_expect_str_eq(record_text(t, 1), "DELETE bid ref 0 row 1 end");
  cr_expect_eq(t->counts.contradictions, 0);
  wb_tape_free(t);
}

Test(alone, taking_more_than_an_order_holds_is_a_contradiction) {
  wb_tape *t = accepted("34200,1,1,10,10000,1\n34200,4,1,16,10000,1\n", NULL);
  cr_expect_str_eq(record_text(t, 1), "EXECUTE bid ref 0 10000 x 10 row 1 end");
  cr_expect_eq(t->counts.contradictions, 1);
  cr_expect_str_eq(t->findings[0].text,
                   "m.csv line 2: size: takes 16 shares off order 1, which holds 10");
  wb_tape_free(t);
}

Test(alone, without_the_option_a_missing_book_is_an_error) {
  wb_lobster_text text = {"m.csv", "34200,1,1,10,10000,1\n", 21};
  wb_tape *tape;
  wb_error error;
  cr_expect_eq(wb_lobster_read(&text, NULL, NULL, &tape, &error), WB_ERROR_ARGUMENT);
  cr_expect_str_eq(error.text, "m.csv: expected an orderbook text too, or messages_only to be set");
}

/* ---- units ---- */

static void expect_units(const char *messages, const char *book, int64_t base, int32_t tick) {
  wb_tape *t = accepted(messages, book);
  cr_expect_eq(t->base, base, "base %lld instead of %lld", (long long)t->base, (long long)base);
  cr_expect_eq(t->tick_size, tick, "tick %d instead of %d", t->tick_size, tick);
  wb_tape_free(t);
}

Test(units, the_tick_is_a_cent_if_all_that_rests_is_in_cents) {
  expect_units("34200,5,0,1,10055,1\n", "10100,7,10000,5\n", 0, 100);
  expect_units("34200,5,0,1,10055,1\n", "10150,7,10000,5\n", 0, 1);
  expect_units("34200,5,0,1,10055,1\n34200,1,4,5,9950,1\n", NULL, 0, 1);
}

Test(units, a_given_tick_must_divide_what_rests) {
  wb_read_options fifty = {.tick_size = 50};
  wb_tape *t = accepted_with("34200,5,0,1,10051,1\n", "10150,7,10000,5\n", &fifty);
  cr_expect_eq(t->tick_size, 50);
  wb_tape_free(t);
  wb_read_options cents = {.tick_size = 100};
  refused_with("34200,5,0,1,10055,1\n", "10100,7,9950,5\n", &cents, WB_ERROR_FORMAT,
               "b.csv line 1: bid price 1: expected a multiple of the tick size 100, got \"9950\"");
  refused_with("34200,5,0,1,10055,1\n34200,1,7,1,10001,-1\n", NULL, &cents, WB_ERROR_FORMAT,
               "m.csv line 2: price: expected a multiple of the tick size 100, got \"10001\"");
  wb_read_options wrong = {.tick_size = -1};
  refused_with("34200,5,0,1,10055,1\n", NULL, &wrong, WB_ERROR_ARGUMENT,
               "tick_size: expected 0 to 2^30, got -1");
}

Test(units, prices_that_do_not_fit_base_0_get_the_lowest_one_as_base) {
  wb_tape *t = accepted("34200,5,0,1,6123456755,1\n34200,1,4,5,6123456900,-1\n",
                        "6123457000,7,6123000000,5\n6123456900,5,6123000000,5\n");
  cr_expect_eq(t->base, 6123000000);
  cr_expect_eq(t->tick_size, 100);
  cr_expect_eq(t->book_price[0], 457000);
  cr_expect_eq(t->rows[1].price, 6123456900);
  expect_records(t, RECORDS("NOTE 0 x 1 row 0 end", "ADD ask ref 2 456900 x 5 row 1 end"));
  wb_tape_free(t);
}

Test(units, the_base_is_rounded_down_to_a_tick) {
  expect_units("34200,5,0,1,6000000055,1\n", "6123457000,7,6123000000,5\n", 6000000000, 100);
}

Test(units, a_price_too_far_from_the_others_is_named) {
  refused("34200,5,0,1,10050,1\n34200,5,0,1,10050,1\n", "10100,7,10000,5\n2000000000,7,10000,5\n",
          WB_ERROR_LIMIT,
          "b.csv line 2: price: expected at most 2^30 units above the lowest, 10000, got "
          "\"2000000000\"");
  refused("34200,5,0,1,9000000000000000000,1\n", "10100,7,10000,5\n", WB_ERROR_LIMIT,
          "m.csv line 1: price: expected at most 2^30 units above the lowest, 10000, got "
          "\"9000000000000000000\"");
}

Test(units, a_base_beyond_what_a_tape_holds_is_refused) {
  refused("34200,5,0,1,6123456706123456700,1\n", "6123456706123456800,7,6123456706123456700,5\n",
          WB_ERROR_LIMIT,
          "b.csv line 1: price: expected at most about 2^62 units, got \"6123456706123456800\"");
}

/* ---- texts ---- */

/* The end of a text is parsed by the careful parser alone: each text also with rows after it. */
static void expect_times(const char *rows_after) {
  char messages[1024];
  snprintf(messages, sizeof messages, "%s%s",
           "34200,5,0,1,100,1\n34200.000000001,5,0,1,100,1\n34200.1765432,5,0,1,100,1\n"
           "34200.50,5,0,1,100,1\n43002.123456789004,5,0,1,100,1\n57600.000000000,5,0,1,100,1\n",
           rows_after);
  wb_tape *t = accepted(messages, NULL);
  const int64_t times[] = {34200000000000, 34200000000001, 34200176543200,
                           34200500000000, 43002123456789, 57600000000000};
  for (int i = 0; i < 6; i++) {
    cr_expect_eq(t->rows[i].time_ns, times[i], "row %d: %lld", i, (long long)t->rows[i].time_ns);
  }
  cr_assert_eq(t->odd_time_count, 3);
  cr_expect_eq(t->odd_times[0].row, 3);
  cr_expect_str_eq(t->odd_times[0].text, "34200.50");
  cr_expect_str_eq(t->odd_times[1].text, "43002.123456789004");
  cr_expect_str_eq(t->odd_times[2].text, "57600.000000000");
  cr_expect_eq(t->counts.repeated_times, *rows_after != 0 ? 11 : 0);
  wb_tape_free(t);
}

Test(texts, times_are_whole_nanoseconds_and_odd_ones_keep_their_text) {
#define LATER "57601,5,0,1,100,1\n"
  expect_times("");
  expect_times(LATER LATER LATER LATER LATER LATER LATER LATER LATER LATER LATER LATER);
}

Test(texts, mark_header_crlf_and_a_missing_or_doubled_last_newline_are_harmless) {
  static const char m[] = "\xef\xbb\xbfTime,Type,OrderID,Size,Price,Direction\r\n"
                          "34200,5,0,1,10050,1\r\n34201,5,0,1,10050,-1",
                    b[] = "\"ASK 1\",\"x\",\"y\",\"z\"\n10100,7,10000,5\n10100,7,10000,5\r\n\r\n\n";
  wb_tape *t = accepted(m, b);
  cr_expect_eq(t->row_count, 2);
  cr_expect_eq(t->rows[1].direction, -1);
  cr_expect_eq(t->sources[0].bytes, (int64_t)sizeof m - 1);
  wb_tape_free(t);
}

Test(texts, the_header_counts_as_a_line) {
  refused("Time,Type\n34200,5,0,1,10050,1\n34200,5,0,1,10050,2\n", NULL, WB_ERROR_FORMAT,
          "m.csv line 3: direction: expected 1 or -1, got \"2\"");
}

Test(texts, the_seventh_column_is_kept_as_a_dictionary) {
  wb_tape *t =
      accepted("34200,5,0,1,10050,1,null\n34200,5,0,1,10050,1,UBSS\n"
               "34200,5,0,1,10050,1,null\n34200,5,0,1,10050,1,a-participant-of-some-length\n",
               NULL);
  cr_assert_eq(t->participant_count, 3);
  cr_expect_str_eq(t->participants[0], "null");
  cr_expect_str_eq(t->participants[1], "UBSS");
  cr_expect_str_eq(t->participants[2], "a-participant-of-some-length");
  const int expected[] = {1, 2, 1, 3};
  for (int i = 0; i < 4; i++) {
    cr_expect_eq(t->rows[i].participant, expected[i]);
  }
  wb_tape_free(t);
}

Test(texts, a_thousand_participants_are_told_apart) {
  char messages[1000 * 30] = "";
  size_t at = 0;
  for (int i = 0; i < 1000; i++) {
    at += (size_t)sprintf(messages + at, "34200,5,0,1,10050,1,P%d\n", i % 500);
  }
  wb_tape *t = accepted(messages, NULL);
  cr_assert_eq(t->participant_count, 500);
  for (int i = 0; i < 1000; i++) {
    cr_expect_eq(t->rows[i].participant, i % 500 + 1);
  }
  wb_tape_free(t);
}

Test(texts, large_numbers_are_exact) {
  wb_tape *t = accepted("34200,1,9223372036854775807,2147483647,1000000000,-1\n"
                        "34200,6,-9223372036854775808,1,1000000000,-1\n",
                        NULL);
  cr_expect_eq(t->rows[0].id, INT64_MAX);
  cr_expect_eq(t->rows[1].id, INT64_MIN);
  cr_expect_eq(t->rows[0].size, INT32_MAX);
  cr_expect_eq(t->ids[0], INT64_MAX);
  wb_tape_free(t);
}

Test(texts, the_name_tells_instrument_day_and_window) {
  wb_lobster_text text = {"x/BRK.A_2012-06-21_34200000_57600000_message_10.csv",
                          "34200,1,1,10,10000,1\n", 21};
  wb_tape *tape;
  cr_assert_eq(wb_lobster_read(&text, NULL, &(wb_read_options){.messages_only = true}, &tape, NULL),
               WB_OK);
  cr_expect_str_eq(tape->instrument, "BRK.A");
  cr_expect_str_eq(tape->day, "2012-06-21");
  cr_expect_eq(tape->start_ns, 34200000000000);
  cr_expect_eq(tape->end_ns, 57600000000000);
  wb_tape_free(tape);
  text.name = "a.zip:AMZN_2021-04-12_first3000_message_10.csv";
  cr_assert_eq(wb_lobster_read(&text, NULL, &(wb_read_options){.messages_only = true}, &tape, NULL),
               WB_OK);
  cr_expect_str_eq(tape->instrument, "AMZN");
  cr_expect_str_eq(tape->day, "2021-04-12");
  cr_expect_eq(tape->end_ns, 0);
  wb_tape_free(tape);
}
