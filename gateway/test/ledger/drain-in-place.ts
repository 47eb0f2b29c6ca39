import type { LedgerStore } from "#ports/index.ts";
import { Drain, type DrainTarget, placeOfFirst } from "../../src/storage/drain/drain.ts";
import type { JournalDrain } from "../../src/storage/journal/journal.ts";
import { entryOfRecord } from "../../src/storage/journal/journal-record.ts";

export interface InPlace extends JournalDrain {
  readonly problems: readonly (string | null)[];
  readonly openIntents: number;
}

/** The real drain without its thread, so that a test can watch every step. */
export function drainInPlace(
  directory: string,
  firstSegment: number,
  store: Pick<LedgerStore, "insert">,
  limits: { readonly wait?: (ms: number) => Promise<void> } = {},
): InPlace {
  const problems: (string | null)[] = [];
  let stored = 0;
  let listener: () => void = () => undefined;
  let target: DrainTarget | null = null;
  let running: Promise<void> = Promise.resolve();
  const drain = new Drain({
    directory,
    from: placeOfFirst(firstSegment),
    store: {
      insert: (entries) => store.insert(entries.map(({ json }) => entryOfRecord(json))),
      insertChecks: async () => undefined,
    },
    onStored: (settled) => {
      stored = Math.max(stored, settled);
      listener();
    },
    onProblem: (problem) => problems.push(problem),
    wait: limits.wait ?? ((ms) => Bun.sleep(ms)),
  });
  const hurry = () => {
    const next = target;
    target = null;
    if (next !== null) running = running.then(() => drain.advance(next));
  };
  return {
    problems,
    get openIntents() {
      return drain.openIntents;
    },
    get stored() {
      return stored;
    },
    onStored: (added) => {
      listener = added;
    },
    written: (segment, end, settled) => {
      target = { segment, end, settled };
    },
    hurry,
    async finish() {
      hurry();
      await running;
      drain.end();
      return true;
    },
  };
}

/** Does not empty the journal's files, for tests that read them. */
export function noDrain(): JournalDrain {
  return {
    stored: 0,
    onStored: () => undefined,
    written: () => undefined,
    hurry: () => undefined,
    finish: () => Promise.resolve(true),
  };
}
