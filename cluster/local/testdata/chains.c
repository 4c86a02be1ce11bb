/* Work that fights: chains of processes that ignore SIGTERM, each of which does nothing else
 * than start the next one and end. chains COUNT SECONDS [s]: s gives each a session of its own.
 * They end by themselves after SECONDS, should whoever tests them fail, and their dead are at
 * most 2,000 at a time: on a busy machine, where they are reaped late, the numbers of processes
 * would run out for everybody else. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char stacks[64][16384];
static time_t end;
static int sessions;

static int step(void *at) {
	long i = (long)at;
	if (sessions) setsid();
	if (time(0) >= end) _exit(0);
	while (clone(step, stacks[(i + 1) % 64] + 16384 - 64, CLONE_VM, (void *)((i + 1) % 64)) < 0 && time(0) < end) sched_yield();
	syscall(SYS_exit, 0);
	return 0;
}

int main(int n, char **v) {
	end = time(0) + atoi(v[2]);
	sessions = n > 3;
	setrlimit(RLIMIT_NPROC, &(struct rlimit){2000, 2000});
	signal(SIGTERM, SIG_IGN);
	for (int k = 0; k < atoi(v[1]); k++)
		if (!fork()) {
			setsid();
			step(0);
		}
	(void)!write(1, "fights\n", 7);
	sleep(atoi(v[2]));
}
