import { within } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { FromWorker, SharedPorts, Totals, ToWorker } from "./messages.ts";

/** How long a worker waits for the reports of all workers. */
const workersAnswerMs = 4_000;

/** Carries messages to and from the supervisor. */
export interface Channel {
  readonly connected: boolean;
  send(message: FromWorker): void;
  onMessage(handle: (message: ToWorker) => void): void;
}

export type WorkerLink = ReturnType<typeof createWorkerLink>;

/** A worker's side of the channel to its supervisor. */
export function createWorkerLink(channel: Channel, clock: Clock) {
  const turn = Promise.withResolvers<{ readonly ports: SharedPorts | null; readonly alone: boolean }>();
  const left = Promise.withResolvers<void>();
  const forced = new AbortController();
  const pendingTotals = new Map<number, (totals: Totals | null) => void>();
  let turns = 0;
  let read: () => Promise<unknown> = async () => [];
  let steer: (places: readonly number[] | null) => Promise<boolean> = async () => false;
  const send = (message: FromWorker): void => {
    try {
      if (channel.connected) channel.send(message);
    } catch {
      // The supervisor has ended; the worker is about to notice.
    }
  };
  const answerReport = (of: number): void => {
    void read().then(
      (report) => send({ kind: "report", turn: of, report }),
      () => {
        // The supervisor uses the latest report.
      },
    );
  };
  const answerSteer = (of: number, places: readonly number[] | null): void => {
    void steer(places).then(
      (done) => send({ kind: "steered", turn: of, done }),
      () => send({ kind: "steered", turn: of, done: false }),
    );
  };
  channel.onMessage((message) => {
    if (message.kind === "listen") turn.resolve(message);
    else if (message.kind === "steer") answerSteer(message.turn, message.places);
    else if (message.kind === "leave") left.resolve();
    else if (message.kind === "force") forced.abort();
    else if (message.kind === "report") answerReport(message.turn);
    else if (message.kind === "totals") pendingTotals.get(message.turn)?.(message.totals);
  });
  return {
    /** Resolves when it is this worker's turn to open the ports. */
    turnToListen() {
      send({ kind: "prepared" });
      return turn.promise;
    },
    listening: (ports: SharedPorts): void => send({ kind: "listening", ports }),
    ready: (banner: string): void => send({ kind: "ready", banner }),
    /** Announces that this worker will have ended within this time. */
    ending: (withinMs: number): void => send({ kind: "ending", withinMs }),
    lastReport: (report: unknown): void => send({ kind: "report", turn: 0, report }),
    /** Sets the function that reads this worker's report. */
    reports: (readReport: typeof read): void => {
      read = readReport;
    },
    /** Sets the function that steers new connections. It returns false if it cannot. */
    onSteer: (steerConnections: typeof steer): void => {
      steer = steerConnections;
    },
    /** Resolves when this worker is being replaced. */
    left: left.promise,
    /** Aborts on a second signal: end without waiting. */
    forced: forced.signal,
    /** Reports of all workers; null if they do not arrive within workersAnswerMs. */
    totals: async (): Promise<Totals | null> => {
      if (!channel.connected) return null;
      const of = ++turns;
      const { promise, resolve } = Promise.withResolvers<Totals | null>();
      pendingTotals.set(of, resolve);
      send({ kind: "ask", turn: of });
      return await within(clock, workersAnswerMs, promise, () => null).finally(() => pendingTotals.delete(of));
    },
  };
}

/** The channel to the supervisor. null: this process is not a worker. */
export function processChannel(): Channel | null {
  if (process.send === undefined) return null;
  return {
    get connected() {
      return process.connected === true;
    },
    send: (message) => void process.send?.(message),
    onMessage: (handle) => process.on("message", (message: ToWorker) => handle(message)),
  };
}
