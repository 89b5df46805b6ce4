/* The action space that every task has: an order for each slot, named by hand. */
#include "env/world.h"

#include <string.h>

enum { VERB, SIDE, OFFSET, QTY, PARTS, MOST_SLOTS = 4, FAR = 100000 };
enum { VERBS = WISH_KINDS };

const char env_slots_meaning[] =
    "of each slot: verb (0 keep, 1 cancel, 2 limit, 3 post only, 4 immediate or cancel, 5 market), side "
    "(0 buy, 1 sell), ticks behind the side's own touch (negative: towards and through the other), "
    "shares";

#define OF_SLOT(n) "verb_" #n, "side_" #n, "offset_" #n, "shares_" #n
const char *const env_slots_names[MOST_SLOTS * PARTS] = {OF_SLOT(0), OF_SLOT(1), OF_SLOT(2),
                                                         OF_SLOT(3)};
#define LEAST 0, 0, -FAR, 0
#define MOST  VERBS - 1, 1, FAR, WB_ENV_SIZE_MAX
const double env_slots_least[MOST_SLOTS * PARTS] = {LEAST, LEAST, LEAST, LEAST};
const double env_slots_most[MOST_SLOTS * PARTS] = {MOST, MOST, MOST, MOST};

bool acts_by_slots(const agent *a) { return strcmp(a->group->space->name, "slots") == 0; }

/* An agent with a target trades towards it only. */
static void check_side(world *k, const agent *a, val verb, val side, var good) {
  val target = agent_get(k, a, AGENT_TARGET);
  val wrong = either(both(gt(target, 0), ne(side, 0)), both(lt(target, 0), eq(side, 0)));
  val bad = both(gt(verb, (int)WISH_CANCEL), wrong);
  IF_RARE(bad) { env_error_bit(k, WB_ENV_ERROR_ACTION); }
  assign(good, both(good, not_(bad)));
}

void act_by_slots(world *k, const agent *a) {
  int32_t slots = a->group->space->components / PARTS;
  for (int32_t s = 0; s < slots; s++) {
    var good = variable(eq(i32(0), 0));
    val verb = whole_action(k, a, s * PARTS + VERB, good);
    val side = whole_action(k, a, s * PARTS + SIDE, good);
    val offset = whole_action(k, a, s * PARTS + OFFSET, good);
    val qty = whole_action(k, a, s * PARTS + QTY, good);
    check_side(k, a, verb, side, good);
    IF (good) {
      val price = away(k, side, near_touch(k, side), offset);
      val at_market = eq(verb, (int)WISH_MARKET);
      wish_for(k, add(a->first, s), verb, side, choose(at_market, i64(0), price), qty);
    }
  }
}
