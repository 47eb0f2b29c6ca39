import { bounds } from "./bounds.ts";

/** Runs functions at later times on a single timer, so that ten thousand waiting tasks need memory only. */
export interface Alarm {
  /** `at`: Unix milliseconds. Ignored if too many functions are waiting. */
  set(at: number, act: () => void): void;
  clear(): void;
}

export function createAlarm(): Alarm {
  /** A binary heap with the earliest call first. */
  let heap: Call[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  let wakesAt = Number.POSITIVE_INFINITY;

  function runDueCalls(): void {
    timer = null;
    wakesAt = Number.POSITIVE_INFINITY;
    const now = Date.now();
    for (let first = heap[0]; first !== undefined && first.at <= now; first = heap[0]) {
      takeFirst(heap);
      first.act();
    }
    schedule();
  }

  function schedule(): void {
    const first = heap[0];
    if (first === undefined || first.at >= wakesAt) return;
    if (timer !== null) clearTimeout(timer);
    wakesAt = first.at;
    timer = setTimeout(runDueCalls, Math.max(0, first.at - Date.now()));
    // Pending callbacks must not keep the process alive.
    timer.unref();
  }

  return {
    set(at, act) {
      if (heap.length >= bounds.alarmsMax) return;
      addCall(heap, { at, act });
      schedule();
    },
    clear() {
      heap = [];
      if (timer !== null) clearTimeout(timer);
      timer = null;
      wakesAt = Number.POSITIVE_INFINITY;
    },
  };
}

interface Call {
  readonly at: number;
  readonly act: () => void;
}

function addCall(heap: Call[], call: Call): void {
  let index = heap.push(call) - 1;
  while (index > 0) {
    const above = (index - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || parent.at <= call.at) break;
    heap[index] = parent;
    index = above;
  }
  heap[index] = call;
}

function takeFirst(heap: Call[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = index * 2 + 1;
    const right = left + 1;
    const smaller = (heap[right]?.at ?? Number.POSITIVE_INFINITY) < (heap[left]?.at ?? 0) ? right : left;
    const child = heap[smaller];
    if (child === undefined || child.at >= last.at) break;
    heap[index] = child;
    index = smaller;
  }
  heap[index] = last;
}
