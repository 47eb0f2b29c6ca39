import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { workerListenMs } from "./port-listeners.ts";
import { workerHurriedMs, workerReserveMs, workerSilenceMs } from "./supervised-worker.ts";
import { Supervisor, workerEndsMax, workerRestartMs, workerRestartMsMax, workerSteadyMs } from "./supervisor.ts";
import type { WorkerEnd } from "./worker-process.ts";

/** A worker that does only what a test makes it do. */
class Scripted {
  readonly received: ToWorker[] = [];
  readonly signals: string[] = [];
  readonly ended = Promise.withResolvers<WorkerEnd>();

  readonly pid: number;
  readonly onMessage: (message: FromWorker) => void;

  constructor(pid: number, onMessage: (message: FromWorker) => void) {
    this.pid = pid;
    this.onMessage = onMessage;
  }

  start(): void {
    this.onMessage({ kind: "prepared" });
    this.onMessage({ kind: "listening", ports: { calls: 1, console: null } });
    this.onMessage({ kind: "ready", banner: "banner" });
  }

  end(code: number | null, signal: string | null = null): Promise<void> {
    this.ended.resolve({ code, signal });
    return turns();
  }

  receivedKinds(): string[] {
    return this.received.map(({ kind }) => kind);
  }
}

/** Runs the microtasks that a message or the end of a worker has started. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await null;
}

async function begin(count: number) {
  const clock = new FakeClock();
  const workers: Scripted[] = [];
  const lines: string[] = [];
  const printed: string[] = [];
  const supervisor = new Supervisor({
    count,
    clock,
    fold: (reports) => reports.reduce((sum: number, report) => sum + Number(report), 0),
    log: (level, message) => lines.push(`${level}: ${message}`),
    print: (text) => printed.push(text),
    start: (onMessage) => {
      const worker = new Scripted(workers.length + 1, onMessage);
      workers.push(worker);
      return {
        pid: worker.pid,
        ended: worker.ended.promise,
        send: (message) => worker.received.push(message),
        signal: (name) => {
          worker.signals.push(name);
          if (name === "SIGKILL") void worker.end(null, name);
        },
      };
    },
  });
  const status = supervisor.run();
  await turns();
  return { supervisor, clock, workers, lines, printed, status };
}

async function beginReady(count: number) {
  const begun = await begin(count);
  for (let started = 0; started < count; started++) {
    begun.workers[started]?.start();
    await turns();
  }
  return begun;
}

test("starts the first worker alone, then the others, and shows the banner once", async () => {
  const { workers, printed } = await begin(3);
  expect(workers).toHaveLength(1);
  workers[0]?.start();
  await turns();
  expect(workers).toHaveLength(3);
  for (const worker of workers.slice(1)) worker.start();
  await turns();
  expect(printed).toEqual(["banner"]);
});

test("workers open the ports one at a time, and one that takes too long is killed", async () => {
  const { workers, clock } = await begin(3);
  workers[0]?.start();
  await turns();
  const [, second, third] = workers;
  second?.onMessage({ kind: "prepared" });
  third?.onMessage({ kind: "prepared" });
  expect([second?.receivedKinds(), third?.receivedKinds()]).toEqual([["listen"], []]);
  clock.advance(workerListenMs);
  await turns();
  expect([second?.signals, third?.receivedKinds()]).toEqual([["SIGKILL"], ["listen"]]);
});

test("delays between restarts grow, and the gateway gives up when no worker serves calls", async () => {
  const { workers, clock, lines, status } = await beginReady(1);
  const rests: number[] = [];
  for (let end = 1; end < workerEndsMax; end++) {
    await workers.at(-1)?.end(1);
    const started = workers.length;
    let restMs = 0;
    while (workers.length === started) {
      clock.advance(100);
      restMs += 100;
    }
    rests.push(restMs);
    await turns();
  }
  expect(rests).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800]);
  await workers.at(-1)?.end(1);
  expect(await status).toBe(1);
  expect(lines.at(-1)).toBe("error: workers keep ending and none serves calls; giving up");
  expect(clock.pending).toBe(0);
});

test("while another worker serves calls, keeps restarting a failing one with growing delays until it is steady", async () => {
  const { workers, clock, supervisor, status } = await beginReady(2);
  for (let end = 0; end < workerEndsMax * 2; end++) {
    await workers.at(-1)?.end(1);
    clock.advance(workerRestartMsMax);
    await turns();
  }
  expect(workers).toHaveLength(2 + workerEndsMax * 2);
  workers.at(-1)?.start();
  await turns();
  clock.advance(workerSteadyMs);
  await workers.at(-1)?.end(1);
  clock.advance(workerRestartMs);
  expect(workers).toHaveLength(3 + workerEndsMax * 2);
  supervisor.stop("SIGTERM");
  await workers.at(-1)?.end(null, "SIGTERM");
  await workers[0]?.end(0);
  expect(await status).toBe(0);
});

test("kills an ending worker that is silent, and grants the time that it announces", async () => {
  const { workers, clock, supervisor, status } = await beginReady(2);
  supervisor.stop("SIGTERM");
  const [silent, slow] = workers;
  slow?.onMessage({ kind: "ending", withinMs: 100_000 });
  clock.advance(workerSilenceMs);
  await turns();
  expect([silent?.signals, slow?.signals]).toEqual([["SIGTERM", "SIGKILL"], ["SIGTERM"]]);
  clock.advance(100_000 + workerReserveMs);
  expect(slow?.signals).toEqual(["SIGTERM", "SIGKILL"]);
  expect(await status).toBe(1);
  expect(clock.pending).toBe(0);
});

test("ignores a signal repeated at once; a later one ends workers without waiting", async () => {
  const { workers, clock, supervisor, status } = await beginReady(1);
  supervisor.stop("SIGINT");
  supervisor.stop("SIGINT");
  workers[0]?.onMessage({ kind: "ending", withinMs: 600_000 });
  expect([workers[0]?.signals, workers[0]?.receivedKinds()]).toEqual([["SIGINT"], ["listen"]]);
  clock.advance(bounds.sameSignalMs + 1);
  supervisor.stop("SIGTERM");
  expect(workers[0]?.receivedKinds()).toEqual(["listen", "force"]);
  clock.advance(workerHurriedMs);
  await status;
  expect(workers[0]?.signals).toEqual(["SIGINT", "SIGKILL"]);
});

test("a worker leaves only after its replacement serves calls and new connections are steered away", async () => {
  const { workers, supervisor, lines } = await beginReady(2);
  supervisor.roll();
  supervisor.roll();
  await turns();
  const [first, second] = workers;
  const third = workers[2];
  expect(first?.receivedKinds()).toEqual(["listen"]);
  third?.start();
  await turns();
  expect(third?.received.at(-1)).toEqual({ kind: "steer", turn: 1, places: [1, 2] });
  expect(first?.receivedKinds()).toEqual(["listen"]);
  third?.onMessage({ kind: "steered", turn: 1, done: true });
  await turns();
  expect(first?.receivedKinds()).toEqual(["listen", "leave"]);
  await first?.end(0);
  // The last of the kernel's list has taken the place of the first.
  expect(second?.received.at(-1)).toEqual({ kind: "steer", turn: 2, places: null });
  second?.onMessage({ kind: "steered", turn: 2, done: true });
  workers[3]?.start();
  await turns();
  expect(workers[3]?.received.at(-1)).toEqual({ kind: "steer", turn: 3, places: [0, 2] });
  expect(lines.filter((line) => line.startsWith("error"))).toEqual([]);
});

test("replaces workers without steering if it is not supported, and logs that once", async () => {
  const { workers, supervisor, clock, lines } = await beginReady(1);
  supervisor.roll();
  await turns();
  workers[1]?.start();
  await turns();
  clock.advance(bounds.workerAnswerMs);
  await turns();
  expect(workers[0]?.receivedKinds()).toContain("leave");
  expect(lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
});

test("counts a slow worker with its latest report, and an ended one with its counters", async () => {
  const { workers, clock } = await beginReady(2);
  const [first, second] = workers;
  const requestTotals = async (turn: number): Promise<void> => {
    first?.onMessage({ kind: "ask", turn });
    await turns();
  };
  await requestTotals(1);
  first?.onMessage({ kind: "report", turn: 1, report: 10 });
  second?.onMessage({ kind: "report", turn: 1, report: 5 });
  await turns();
  expect(first?.received.at(-1)).toMatchObject({ kind: "totals", turn: 1, totals: { parts: [10, 5] } });
  await second?.end(null, "SIGKILL");
  await requestTotals(2);
  clock.advance(bounds.workerAnswerMs);
  await turns();
  expect(first?.received.at(-1)).toMatchObject({
    kind: "totals",
    turn: 2,
    totals: { parts: [5, 10], workers: { wanted: 2, ready: 1, lost: 1 } },
  });
});
