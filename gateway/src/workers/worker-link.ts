import { within } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { FromWorker, SharedPorts, Totals, ToWorker } from "./messages.ts";

const workersAnswerMs = 4_000;

/** Transport of messages; the process itself, except in tests. */
export interface Channel {
  readonly connected: boolean;
  send(message: FromWorker): void;
  onMessage(hear: (message: ToWorker) => void): void;
}

export type WorkerLink = ReturnType<typeof createWorkerLink>;

/** A worker's side of the channel to its supervisor. */
export function createWorkerLink(channel: Channel, clock: Clock) {
  const turn = Promise.withResolvers<{ readonly ports: SharedPorts | null; readonly alone: boolean }>();
  const left = Promise.withResolvers<void>();
  const hurried = new AbortController();
  const asked = new Map<number, (totals: Totals | null) => void>();
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
        // Its latest report counts.
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
    else if (message.kind === "hurry") hurried.abort();
    else if (message.kind === "report") answerReport(message.turn);
    else if (message.kind === "totals") asked.get(message.turn)?.(message.totals);
  });
  return {
    /** Resolves when it is this worker's turn to open the ports. */
    turnToListen() {
      send({ kind: "prepared" });
      return turn.promise;
    },
    listening: (ports: SharedPorts): void => send({ kind: "listening", ports }),
    /** It serves calls. */
    ready: (banner: string): void => send({ kind: "ready", banner }),
    /** It will have ended within this time. */
    ending: (withinMs: number): void => send({ kind: "ending", withinMs }),
    /** Its last report. */
    lastReport: (report: unknown): void => send({ kind: "report", turn: 0, report }),
    /** `act` returns this worker's report. */
    reports: (act: typeof read): void => {
      read = act;
    },
    /** `act` steers new connections; false: it cannot. */
    onSteer: (act: typeof steer): void => {
      steer = act;
    },
    /** Resolves when this worker is being replaced. */
    left: left.promise,
    /** Aborts on a second signal: end without waiting. */
    hurried: hurried.signal,
    /** Reports of all workers; null if not available within workersAnswerMs. */
    totals: async (): Promise<Totals | null> => {
      if (!channel.connected) return null;
      const of = ++turns;
      const { promise, resolve } = Promise.withResolvers<Totals | null>();
      asked.set(of, resolve);
      send({ kind: "ask", turn: of });
      return await within(clock, workersAnswerMs, promise, () => null).finally(() => asked.delete(of));
    },
  };
}

/** The channel to the supervisor; null: there is none. */
export function processChannel(): Channel | null {
  if (process.send === undefined) return null;
  return {
    get connected() {
      return process.connected === true;
    },
    send: (message) => void process.send?.(message),
    onMessage: (hear) => process.on("message", (message: ToWorker) => hear(message)),
  };
}
