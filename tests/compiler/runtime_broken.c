/* A library that cannot be loaded: what it needs is nowhere. */
int wb_test_nowhere(void);
int wb_test_here(void);

int wb_test_here(void) { return wb_test_nowhere(); }
