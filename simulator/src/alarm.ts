import { bounds } from "./bounds.ts";

/** Calls at times to come, all on one timer, so that ten thousand waiting tasks cost no more than their places here. */
export interface Alarm {
  /** `at` in Unix milliseconds. Without effect when too many wait already. */
  set(at: number, act: () => void): void;
  clear(): void;
}

export function createAlarm(): Alarm {
  /** A binary heap, the earliest first. */
  let heap: Call[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  let wakesAt = Number.POSITIVE_INFINITY;

  function ring(): void {
    timer = null;
    wakesAt = Number.POSITIVE_INFINITY;
    const now = Date.now();
    for (let first = heap[0]; first !== undefined && first.at <= now; first = heap[0]) {
      takeFirst(heap);
      first.act();
    }
    wake();
  }

  function wake(): void {
    const first = heap[0];
    if (first === undefined || first.at >= wakesAt) return;
    if (timer !== null) clearTimeout(timer);
    wakesAt = first.at;
    timer = setTimeout(ring, Math.max(0, first.at - Date.now()));
    // Callbacks to come keep no process alive.
    timer.unref();
  }

  return {
    set(at, act) {
      if (heap.length >= bounds.alarmsMax) return;
      addCall(heap, { at, act });
      wake();
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
