import { AdminClient, administratorEnvironment } from "../../../test/acceptance/admin-client.ts";
import { type Sluice, startSluice } from "../contenders/sluice.ts";
import { type Figure, figure } from "../figure.ts";
import type { Run } from "../run.ts";
import { startSharedServers } from "../shared-servers.ts";
import { quantiles } from "../statistics.ts";

/** Time until a change that one gateway confirmed is effective in another one on the same PostgreSQL and Redis. */
const seenMsMax = 60_000;
const pollMs = 2;
const target = { most: 2_000 };

interface Pair {
  readonly admin: AdminClient;
  readonly other: Sluice;
}

/** Makes one change. Resolves to a check whether the other gateway has it. */
type Change = (pair: Pair, turn: number) => Promise<() => Promise<boolean>>;

export async function changeLatency(run: Run): Promise<Figure[]> {
  const quick = run.options.mode === "quick";
  const servers = await startSharedServers(run);
  const started: Sluice[] = [];
  try {
    const env = { ...(await servers.environment()), ...administratorEnvironment };
    const one = await startSluice(run, { env });
    started.push(one);
    const other = await startSluice(run, { env });
    started.push(other);
    const pair = { admin: await AdminClient.signIn(`http://127.0.0.1:${one.port}`), other };
    const deployments = [{ provider: "bench", upstream_model: "upstream-model-name" }];
    await pair.admin.json("POST", "/api/models", { name: edited, owned_by: "turn-0", unpriced: "allow", deployments });
    const figures: Figure[] = [];
    for (const [name, change] of changes) figures.push(await taken(pair, name, change, quick ? 100 : 300));
    return figures;
  } finally {
    for (const sluice of started) await sluice.stop();
    await servers.stop();
  }
}

async function taken(pair: Pair, name: string, change: Change, count: number): Promise<Figure> {
  const times: number[] = [];
  for (let turn = 1; turn <= count; turn++) {
    const seen = await change(pair, turn);
    const answeredMs = performance.now();
    while (!(await seen())) {
      if (performance.now() - answeredMs > seenMsMax) throw new Error(`${name}: not effective within ${seenMsMax} ms`);
      await Bun.sleep(pollMs);
    }
    times.push(performance.now() - answeredMs);
  }
  const { p50, p99, max } = quantiles(times);
  const all = `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, max ${max.toFixed(1)} ms of ${count}`;
  return figure(`Change effective in another process, p99: ${name}`, [p99], { unit: "ms", target, note: all });
}

const edited = "bench-edited";
const keys = "/api/workspaces/bench/keys";

const changes: readonly (readonly [string, Change])[] = [
  [
    "a key is made",
    async ({ admin, other }, turn) => {
      const { secret } = await admin.json("POST", keys, { name: `made ${turn}` });
      return async () => (await modelsOf(other, String(secret))).status === 200;
    },
  ],
  [
    "a key is revoked",
    async ({ admin, other }, turn) => {
      const { key, secret } = await admin.json("POST", keys, { name: `revoked ${turn}` });
      const { id } = key as { readonly id: string };
      // The other gateway has cached the key, as for a frequent caller.
      const { status } = await modelsOf(other, String(secret));
      if (status !== 200) throw new Error(`a new key returned ${status}`);
      await admin.json("POST", `${keys}/${id}/revoke`);
      return async () => (await modelsOf(other, String(secret))).status === 401;
    },
  ],
  [
    "a model is edited",
    async ({ admin, other }, turn) => {
      const owner = `turn-${turn}`;
      await admin.json("PATCH", `/api/models/${edited}`, { owned_by: owner });
      return async () => (await modelsOf(other, other.key)).body.includes(`"${owner}"`);
    },
  ],
];

async function modelsOf({ port }: Sluice, key: string): Promise<{ readonly status: number; readonly body: string }> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  return { status: answer.status, body: await answer.text() };
}
