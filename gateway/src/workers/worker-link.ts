import { within } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import type { FromWorker, SharedPorts, Totals, ToWorker } from "./messages.ts";

const workersAnswerMs = 4_000;

/** What carries the messages: the process itself, or anything like it. */
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
      // The supervisor has gone, and this worker is about to see it.
    }
  };
  const answerReport = (of: number): void => {
    void read().then(
      (report) => send({ kind: "report", turn: of, report }),
      () => {
        // Its last numbers count.
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
    /** All is prepared: resolves when it is this worker's turn to open the ports. */
    turnToListen() {
      send({ kind: "prepared" });
      return turn.promise;
    },
    listening: (ports: SharedPorts): void => send({ kind: "listening", ports }),
    /** It takes calls. */
    ready: (told: string): void => send({ kind: "ready", told }),
    /** It is about to end, and will have ended by then. */
    ending: (withinMs: number): void => send({ kind: "ending", withinMs }),
    /** Its last numbers, before it ends. */
    lastReport: (report: unknown): void => send({ kind: "report", turn: 0, report }),
    /** `act` gives this worker's numbers when they are asked for. */
    reports: (act: typeof read): void => {
      read = act;
    },
    /** `act` has the kernel keep new connections from some listeners; false: it cannot. */
    onSteer: (act: typeof steer): void => {
      steer = act;
    },
    /** Resolves when another takes this worker's place. */
    left: left.promise,
    /** Aborted: somebody is tired of waiting for this one's end. */
    hurried: hurried.signal,
    /** The numbers of all; null when they cannot be had within workersAnswerMs. */
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

/** The channel that the supervisor opened with this process; null when nobody did. */
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
