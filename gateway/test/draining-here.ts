import { drainNoticeMs } from "#storage/drain/drain-thread.ts";
import type { Database } from "#storage/index.ts";
import { Drain, type DrainTarget, placeOfFirst } from "../src/storage/drain/drain.ts";
import type { startDrain } from "../src/storage/drain/drain-thread.ts";
import { insertChecks } from "../src/storage/ledger/guardrail-checks.ts";
import { ledgerRecordInsert } from "../src/storage/ledger/ledger-insert.ts";

/**
 * The drain in this thread, on the open connection: a separate thread costs a started gateway as much as its
 * start, and most tests are about something else. drain.test.ts and the acceptance tests use the
 * thread, and so do tests with `drainThread`.
 */
export function drainingHere(database: Database): typeof startDrain {
  return ({ directory, firstSegment, clock, observer }) => {
    let target: DrainTarget = { segment: firstSegment, end: 0, settled: 0 };
    let drained = target;
    let stored = 0;
    let listener: () => void = () => undefined;
    let unbook: (() => void) | null = null;
    let running: Promise<void> | null = null;
    const drain = new Drain({
      directory,
      from: placeOfFirst(firstSegment),
      store: { insert: ledgerRecordInsert(database), insertChecks: (checks) => insertChecks(database, checks) },
      onStored: (settled) => {
        if (settled <= stored) return;
        stored = settled;
        listener();
      },
      onProblem: (problem) => {
        if (problem === null) observer.log("info", "the ledger drain continues");
        else observer.log("warn", "the ledger drain is blocked; retrying", { problem });
      },
      wait: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
    });
    const advance = async (): Promise<void> => {
      while (drained !== target) {
        drained = target;
        await drain.advance(drained);
      }
      running = null;
    };
    const hurry = (): void => {
      // Not synchronously with the caller: a thread starts later too.
      if (drained !== target) running ??= Promise.resolve().then(advance);
    };
    return {
      get stored() {
        return stored;
      },
      onStored: (added) => {
        listener = added;
      },
      written: (segment, end, settled) => {
        target = { segment, end, settled };
        unbook ??= clock.after(drainNoticeMs, () => {
          unbook = null;
          hurry();
        });
      },
      hurry,
      async finish(timeoutMs) {
        unbook?.();
        hurry();
        const late = Promise.withResolvers<"late">();
        const unbookLate = clock.after(timeoutMs, () => late.resolve("late"));
        const inTime = (await Promise.race([running, late.promise])) !== "late";
        unbookLate();
        if (inTime) drain.end();
        else drain.stop();
        return inTime;
      },
    };
  };
}
