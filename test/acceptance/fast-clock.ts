/**
 * A machine whose clock runs fast and can leap, so that leases of minutes run out within seconds. Preloaded before a
 * program, which knows nothing of it: its time of day, its monotonic clock and its timers all go by the file that
 * FAST_CLOCK names. Programs that read the same file live in the same time, also when they are started again.
 *
 * The file is three 64-bit floats: the Unix milliseconds of the real clock at which both clocks show the same; fast
 * milliseconds in a real one; and the milliseconds that the fast clock is ahead beyond that. Whoever writes the last one
 * makes it leap for everybody at once. A timer whose time a leap has passed over is due, as after a standstill.
 */
interface Waiting {
  readonly dueMs: number;
  readonly fire: () => void;
  /** Stands in for the timer after a leap that has brought it nearer. */
  sooner: Timer | null;
}

type Timer = ReturnType<typeof setTimeout>;

/** How soon a leap is noticed by timers, in real milliseconds. */
const noticeMs = 10;

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

  const waiting = new Map<Timer, Waiting>();
  const forget = (timer: Timer): void => {
    const sooner = waiting.get(timer)?.sooner ?? null;
    waiting.delete(timer);
    realClear(timer);
    if (sooner !== null) realClear(sooner);
  };
  Reflect.set(globalThis, "setTimeout", (act: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) => {
    const fire = (): void => {
      if (!waiting.has(timer)) return;
      forget(timer);
      act(...given);
    };
    const timer = realTimeout(fire, ms / times);
    waiting.set(timer, { dueMs: monotonic() + ms, fire, sooner: null });
    return timer;
  });
  Reflect.set(globalThis, "clearTimeout", (timer: Timer | undefined) => {
    if (timer !== undefined) forget(timer);
  });
  let seen = ahead();
  setInterval(() => {
    if (ahead() === seen) return;
    seen = ahead();
    const byTime = [...waiting.values()].sort((one, other) => one.dueMs - other.dueMs);
    for (const one of byTime) {
      if (one.sooner !== null) realClear(one.sooner);
      const leftMs = one.dueMs - monotonic();
      if (leftMs <= 0) one.fire();
      else one.sooner = realTimeout(one.fire, leftMs / times);
    }
  }, noticeMs).unref();
}
