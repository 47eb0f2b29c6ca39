import type { Contender } from "./contender.ts";
import { until } from "./deadline.ts";
import { type Figure, figure } from "./figure.ts";
import { holdStreams } from "./hold-streams.ts";
import { RawConnection } from "./raw-connection.ts";
import type { Run } from "./run.ts";
import { saturate } from "./saturate.ts";

/** How long the ledger may take until it tells of the last call. */
const drainMs = 30_000;

/**
 * Whole answers and streams, of which callers leave every seventh: how many calls the upstream has served more or fewer than
 * the gateway's own report of the key says. Only one that keeps a ledger can be asked.
 */
export async function ledgerAgainstTruth(run: Run, contender: Contender | undefined): Promise<Figure> {
  const name = "Calls that the upstream served, less those in the ledger";
  if (contender === undefined) return figure(name, [], { unit: "", note: "nothing that keeps a ledger is run" });
  // What came before has to be in the ledger before it is counted.
  let before = await said(contender);
  await until(
    async () => {
      const now = await said(contender);
      const stands = now === before;
      before = now;
      return stands;
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
    counted = (await said(contender)) - before;
    return counted >= truth;
  };
  await until(caughtUp, drainMs, "the ledger", 1_000).catch(() => undefined);
  return figure(name, [Math.abs(truth - counted)], {
    unit: "",
    target: { most: 0 },
    note: `${truth} served, ${counted} in the ledger`,
  });
}

/** Calls of the key, by its own report. */
async function said({ port, key }: Contender): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/usage`, { headers: { authorization: `Bearer ${key}` } });
  if (!answer.ok) throw new Error(`the usage of the key was not told: ${answer.status}`);
  const said = (await answer.json()) as { readonly totals: { readonly requests: number } };
  return said.totals.requests;
}

async function served(run: Run): Promise<number> {
  const connection = await RawConnection.open(run.upstreamPort);
  await connection.exchange(Buffer.from("GET /served HTTP/1.1\r\nhost: bench\r\n\r\n"));
  connection.close();
  return Number(connection.lastBody);
}
