/**
 * Makes a program's clock run fast and able to jump, so that leases of minutes expire within seconds. Preloaded before a
 * program that is unaware of it: the time of day, the monotonic clock and the timers all follow the file that FAST_CLOCK
 * names. Programs with the same file share the same time, even across restarts.
 *
 * The file contains three 64-bit floats: the Unix milliseconds at which the real and the fast clock are equal; fast
 * milliseconds per real millisecond; and extra milliseconds that the fast clock is ahead. Writing the last one makes the
 * clock jump for all programs at once. Timers that a jump has passed are due at once, as after a suspended machine.
 */
interface PendingTimer {
  readonly dueMs: number;
  readonly fire: () => void;
  /** Replaces the timer after a jump that brought its due time nearer. */
  earlier: Timer | null;
}

type Timer = ReturnType<typeof setTimeout>;

/** How soon timers notice a jump, in real milliseconds. */
const checkIntervalMs = 10;

const file = process.env["FAST_CLOCK"];
if (file !== undefined) {
  const shared = new Float64Array(Bun.mmap(file, { shared: true }).buffer);
  const [from = 0, times = 1, aheadAtStart = 0] = shared;
  const ahead = (): number => shared[2] ?? 0;
  const realNow = Date.now.bind(Date);
  const realMonotonic = performance.now.bind(performance);
  const realTimeout = setTimeout;
  const realClear = clearTimeout;
  const monotonic = (): number => realMonotonic() * times + ahead() - aheadAtStart;
  Date.now = () => Math.floor(from + (realNow() - from) * times + ahead());
  performance.now = monotonic;

  const pending = new Map<Timer, PendingTimer>();
  const clear = (timer: Timer): void => {
    const earlier = pending.get(timer)?.earlier ?? null;
    pending.delete(timer);
    realClear(timer);
    if (earlier !== null) realClear(earlier);
  };
  Reflect.set(globalThis, "setTimeout", (act: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    const fire = (): void => {
      if (!pending.has(timer)) return;
      clear(timer);
      act(...args);
    };
    const timer = realTimeout(fire, ms / times);
    pending.set(timer, { dueMs: monotonic() + ms, fire, earlier: null });
    return timer;
  });
  Reflect.set(globalThis, "clearTimeout", (timer: Timer | undefined) => {
    if (timer !== undefined) clear(timer);
  });
  let lastAhead = ahead();
  setInterval(() => {
    if (ahead() === lastAhead) return;
    lastAhead = ahead();
    const byTime = [...pending.values()].sort((a, b) => a.dueMs - b.dueMs);
    for (const timer of byTime) {
      if (timer.earlier !== null) realClear(timer.earlier);
      const leftMs = timer.dueMs - monotonic();
      if (leftMs <= 0) timer.fire();
      else timer.earlier = realTimeout(timer.fire, leftMs / times);
    }
  }, checkIntervalMs).unref();
}
