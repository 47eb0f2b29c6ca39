import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Intent, noUsage, type Settlement } from "../../gateway/src/core/index.ts";
import { Drain, type DrainTarget, placeOfFirst } from "../../gateway/src/storage/drain/drain.ts";
import { type Database, FileJournal, migrate, openDatabase, openPostgres } from "../../gateway/src/storage/index.ts";
import { ledgerRecordInsert } from "../../gateway/src/storage/ledger/ledger-insert.ts";
import { createIds, systemClock } from "../../gateway/src/system/index.ts";

/**
 * CPU time of a settled call in the ledger: writing its two journal records, as the main thread does, and draining them into the
 * database, as the drain thread does. Both run in turn, so that each has the process to itself.
 *
 *     bun bench/src/ledger-drain.ts [--calls 100000] [--keys 20] [--per-second 10000] [--rounds 3] [--open 0] [--sessions] [--postgres postgres://…]
 *
 * --open: the number of calls that are open at any time; they end in a random order.
 * --sessions: calls have sessions, of ten calls each; rounds with and without them take turns.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      calls: { type: "string", default: "100000" },
      keys: { type: "string", default: "20" },
      "per-second": { type: "string", default: "10000" },
      rounds: { type: "string", default: "3" },
      open: { type: "string", default: "0" },
      sessions: { type: "boolean", default: false },
      postgres: { type: "string" },
    },
  });
  const [calls, keys, perSecond, rounds] = [values.calls, values.keys, values["per-second"], values.rounds].map(
    Number,
  ) as [number, number, number, number];
  const directory = mkdtempSync(join(tmpdir(), "ledger-drain-"));
  const database =
    values.postgres === undefined
      ? openDatabase({ path: join(directory, "sluice.db") })
      : await openPostgres({ url: values.postgres });
  try {
    await migrate(database);
    const make = callMaker(keys, perSecond);
    for (let round = 0; round < rounds; round++) {
      const open = Number(values.open);
      await measureRound(database, join(directory, String(round)), { calls, open, make: () => make(false) });
      if (!values.sessions) continue;
      console.log("with sessions:");
      await measureRound(database, join(directory, `${round}-sessions`), { calls, open, make: () => make(true) });
    }
  } finally {
    await database.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Round {
  readonly calls: number;
  readonly open: number;
  readonly make: () => Call;
}

async function measureRound(database: Database, path: string, { calls, open, make }: Round): Promise<void> {
  mkdirSync(path);
  let target: DrainTarget = { segment: 1, end: 0, settled: 0 };
  const journal = new FileJournal({
    directory: { path, firstSegment: 1, strange: [], leftovers: noLeftovers, release: () => undefined },
    durability: "process",
    drain: {
      stored: 0,
      onStored: () => undefined,
      written: (segment, end, settled) => {
        target = { segment, end, settled };
      },
      hurry: () => undefined,
      finish: () => Promise.resolve(true),
    },
    clock: systemClock,
    observer: { log: () => undefined },
    onFatal: (error) => {
      throw error;
    },
  });
  const writing = cpuTime();
  const running: Settlement[] = [];
  for (let done = 0; done < calls; done += partCalls) {
    const made = Array.from({ length: partCalls }, make);
    writing.start();
    await write(journal, made, (settlement) => {
      running.push(settlement);
      return running.length > open ? removeAny(running) : null;
    });
    writing.pause();
  }
  for (const settlement of running) journal.settle(settlement);
  console.log(writing.line("journal", calls));
  await journal.synced();
  Bun.gc(true);

  const insert = ledgerRecordInsert(database);
  const drain = new Drain({
    directory: path,
    from: placeOfFirst(1),
    store: { insert, insertChecks: async () => undefined },
    onStored: () => undefined,
    onProblem: (problem) => console.error(problem),
    wait: (ms) => Bun.sleep(ms),
  });
  const draining = cpuTime();
  draining.start();
  await drain.advance(target);
  draining.pause();
  console.log(draining.line("drain", calls));
  await journal.close(1_000);
}

/** In each turn of the event loop, some calls begin and as many others end. `nextEnd`: the call that ends when this one has begun. */
async function write(
  journal: FileJournal,
  calls: readonly Call[],
  nextEnd: (begun: Settlement) => Settlement | null,
): Promise<void> {
  for (let at = 0; at < calls.length; at += atOnce) {
    for (const { intent } of calls.slice(at, at + atOnce)) journal.intent(intent);
    for (const { settlement } of calls.slice(at, at + atOnce)) {
      const ended = nextEnd(settlement);
      if (ended !== null) journal.settle(ended);
    }
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function removeAny<Item>(items: Item[]): Item {
  const place = Math.floor(Math.random() * items.length);
  const item = items[place] as Item;
  items[place] = items.at(-1) as Item;
  items.pop();
  return item;
}

const atOnce = 16;
const partCalls = 1_000;
const noLeftovers = { damage: [], records: async function* () {}, discard: async () => undefined };

/** Sums up the CPU time of the process over several periods. */
function cpuTime() {
  let from = process.cpuUsage();
  const sum = { user: 0, system: 0, ms: 0 };
  let startedAt = 0;
  return {
    start(): void {
      startedAt = performance.now();
      from = process.cpuUsage();
    },
    pause(): void {
      const { user, system } = process.cpuUsage(from);
      sum.user += user;
      sum.system += system;
      sum.ms += performance.now() - startedAt;
    },
    line(name: string, calls: number): string {
      const each = (micros: number) => (micros / calls).toFixed(2);
      const { user, system } = sum;
      const load = loadavg()[0]?.toFixed(1);
      const wall = each(sum.ms * 1_000);
      return `${name}: ${each(user + system)} µs a call (user ${each(user)}, system ${each(system)}), took ${wall}, load ${load}`;
    },
  };
}

interface Call {
  readonly intent: Intent;
  readonly settlement: Settlement;
}

function callMaker(keys: number, perSecond: number): (hasSession: boolean) => Call {
  let n = 0;
  const startedAt = Date.now();
  const now = () => startedAt + Math.floor((n * 1_000) / perSecond);
  const ids = createIds({ now });
  return (hasSession) => {
    n++;
    const at = now();
    const session = Math.floor(n / 2_000) * 200 + (n % 200);
    const key = Bun.hash.xxHash32(String(hasSession ? session : n)) % keys;
    const attemptId = ids.next("att_");
    const [input, output] = [250 + (n % 50), 60 + (n % 40)];
    const totalMs = 0.5 + (n % 1000) / 313;
    return {
      intent: {
        attemptId,
        requestId: ids.next("req_"),
        at,
        workspaceId: `ws_01K9Z3Q5E7000ABCDEFGH${String(key % 3).padStart(5, "0")}`,
        groupId: `grp_01K9Z3Q5E7000ABCDEFGH${String(key % 6).padStart(5, "0")}`,
        keyId: `key_01K9Z3Q5E7000ABCDEFGH${String(key).padStart(5, "0")}`,
        model: "gpt-5-mini",
        requestedModel: "gpt-5-mini",
        provider: "upstream",
        deployment: "dep_01K9Z3Q5E7000ABCDEFGHJKMNP",
        upstreamModel: "gpt-5-mini",
        endpoint: "chat",
        callerDialect: "openai-chat",
        upstreamDialect: "openai-chat",
        stream: false,
        retryIndex: 0,
        priceVersion: "prc_01K9Z3Q5E7000ABCDEFGHJKMNP",
        inputEstimate: 280,
        reservedNanoUsd: 5_000_000,
        userAgent: "openai-python/2.14.0",
        startedAfterMs: (n % 97) / 1_237,
        tags: {},
        ...(hasSession ? { session: `session-${session}`, sessionSource: "header" as const } : {}),
      },
      settlement: {
        attemptId,
        endedAt: at + 2,
        outcome: "succeeded",
        httpStatus: 200,
        errorCode: null,
        usage: { ...noUsage, inputUncached: input, output },
        usageSource: "upstream",
        rawUsage: `{"prompt_tokens":${input},"completion_tokens":${output},"total_tokens":${input + output}}`,
        costNanoUsd: input * 1_250 + output * 10_000,
        priceVersion: "prc_01K9Z3Q5E7000ABCDEFGHJKMNP",
        totalMs,
        firstByteMs: totalMs * 0.9,
        firstTokenMs: totalMs * 0.95,
        upstreamMs: totalMs * 0.8,
        overheadMs: totalMs * 0.2,
        upstreamId: null,
        upstreamStatus: 200,
      },
    };
  };
}

await main();
process.exit();
