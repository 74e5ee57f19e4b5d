// work MEBIBYTES THREADS BUSY_MS PAUSE_MS: holds so much anonymous memory and so many threads besides its first one,
// which spends CPU time in turns.
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void *rest(void *unused) {
  (void)unused;
  for (;;) pause();
}

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(int count, char **words) {
  if (count != 5) return 2;
  size_t bytes = strtoul(words[1], NULL, 10) << 20;
  int threads = atoi(words[2]);
  long busy_ms = atol(words[3]);
  long pause_ms = atol(words[4]);

  volatile char *held = malloc(bytes);
  for (size_t i = 0; i < bytes; i += 4096) held[i] = 1;

  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  for (int i = 0; i < threads; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &small, rest, NULL)) return 1;
  }

  if (busy_ms == 0) rest(NULL);
  for (;;) {
    for (long end = now_ms() + busy_ms; now_ms() < end;) continue;
    usleep(pause_ms * 1000);
  }
}
