import type { Contender } from "./contender.ts";
import { until } from "./deadline.ts";
import { type Figure, figure } from "./figure.ts";
import { holdStreams } from "./hold-streams.ts";
import { RawConnection } from "./raw-connection.ts";
import type { Run } from "./run.ts";
import { saturate } from "./saturate.ts";

/** Maximum time until the ledger has the last call. */
const drainMs = 30_000;

/**
 * Sends calls and streams, of which callers abort every seventh, and compares the calls that the upstream served with the usage report
 * of the key. Only for contenders with a ledger.
 */
export async function ledgerAgainstTruth(run: Run, contender: Contender | undefined): Promise<Figure> {
  const name = "Calls that the upstream served, less those in the ledger";
  if (contender === undefined) return figure(name, [], { unit: "", note: "no contender with a ledger" });
  // Earlier calls must be in the ledger before counting starts.
  let before = await callsInLedger(contender);
  await until(
    async () => {
      const now = await callsInLedger(contender);
      const isStable = now === before;
      before = now;
      return isStable;
    },
    drainMs,
    "the ledger to come to rest",
    1_500,
  );
  const servedBefore = await served(run);
  await saturate(run, contender, { bodyBytes: 1024, connections: 16, seconds: 1 });
  const load = { bodyBytes: 1024, openPerSecond: 200, streams: 140, gapMs: 50, windowMs: 1_500, abortShare: 1 / 7 };
  await holdStreams(run, contender, load, async () => undefined);
  const truth = (await served(run)) - servedBefore;
  let counted = 0;
  const caughtUp = async () => {
    counted = (await callsInLedger(contender)) - before;
    return counted >= truth;
  };
  await until(caughtUp, drainMs, "the ledger", 1_000).catch(() => undefined);
  return figure(name, [Math.abs(truth - counted)], {
    unit: "",
    target: { most: 0 },
    note: `${truth} served, ${counted} in the ledger`,
  });
}

/** Number of calls in the key's usage report. */
async function callsInLedger({ port, key }: Contender): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/usage`, { headers: { authorization: `Bearer ${key}` } });
  if (!answer.ok) throw new Error(`the usage report failed: ${answer.status}`);
  const usage = (await answer.json()) as { readonly totals: { readonly requests: number } };
  return usage.totals.requests;
}

async function served(run: Run): Promise<number> {
  const connection = await RawConnection.open(run.upstreamPort);
  await connection.exchange(Buffer.from("GET /served HTTP/1.1\r\nhost: bench\r\n\r\n"));
  connection.close();
  return Number(connection.lastBody);
}
