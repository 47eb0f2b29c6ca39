import { type Filled, rareModel } from "./console-rows.ts";
import { type Sluice, startSluice } from "./contenders/sluice.ts";
import { type Figure, figure, medianText, ratios } from "./figure.ts";
import { runProbe } from "./probe-contenders.ts";
import { othersShare } from "./process-tree.ts";
import type { ProbeResult } from "./programs/probe.ts";
import type { Run } from "./run.ts";
import { quantiles } from "./statistics.ts";
import { targets } from "./targets.ts";

const administrator = { email: "bench@example.com", password: "a long password for the bench" };
const dayMs = 86_400_000;

/** 200 model calls per second, for five seconds a round. */
const load = { bodyBytes: 1024, everyMs: 5, inARow: 1, count: 1_000, warmUp: 100 } as const;
/** As many as a few people who use the console at the same time. */
const questionsPerSecond = 5;

/**
 * Latency of model calls while an administrator loads lists and searches, compared with the latency without console use, in turn.
 */
export async function duringConsoleUse(run: Run, filled: Filled, rounds: number): Promise<Figure[]> {
  const sluice = await startSluice(run, {
    dataDirectory: filled.directory,
    env: { SLUICE_ADMIN_EMAIL: administrator.email, SLUICE_ADMIN_PASSWORD: administrator.password },
  });
  try {
    const person = await signedIn(sluice, filled);
    const [quiet, asked]: [ProbeResult[], ProbeResult[]] = [[], []];
    await probe(run, sluice);
    const share = othersShare();
    for (let round = 0; round < rounds; round++) {
      quiet.push(await probe(run, sluice));
      person.begin();
      try {
        asked.push(await probe(run, sluice));
      } finally {
        await person.end();
      }
    }
    const { count, p50, p99 } = quantiles(person.times);
    const others = `others used ${(100 * share()).toFixed(0)} % of the machine`;
    const answered = `${count} questions answered in ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)}; ${others}`;
    return (["p50", "p99"] as const).map((name) => {
      const of = (results: readonly ProbeResult[]) => results.map(({ total }) => total[name]);
      return figure(
        `Call latency during ${questionsPerSecond} console queries per second, ${name}`,
        ratios(of(asked), of(quiet)),
        {
          unit: "×",
          target: targets.besideConsole,
          note: `${medianText(of(quiet))} ms alone, ${medianText(of(asked))} ms during them; ${answered}`,
        },
      );
    });
  } finally {
    await sluice.stop();
  }
}

async function probe(run: Run, { name, port, key }: Sluice): Promise<ProbeResult> {
  const { bodyBytes, ...lane } = load;
  const spec = [{ ...lane, targets: [{ name, port, key, bodyBytes }] }];
  const [result] = await runProbe(run, spec, (load.count + load.warmUp) * load.everyMs * 2);
  if (result === undefined) throw new Error("the probe returned no result");
  return result;
}

/** A console user who queries continuously. */
interface Person {
  readonly times: number[];
  begin(): void;
  end(): Promise<void>;
}

async function signedIn({ port }: Sluice, filled: Filled): Promise<Person> {
  const origin = `http://127.0.0.1:${port}`;
  const answer = await fetch(`${origin}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify(administrator),
  });
  if (!answer.ok) throw new Error(`the administrator cannot sign in: ${answer.status} ${await answer.text()}`);
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ");
  const paths = pathsOf(filled);
  const times: number[] = [];
  let asking: Promise<void> = Promise.resolve();
  let isRunning = false;
  let turn = 0;
  const askRepeatedly = async (): Promise<void> => {
    while (isRunning) {
      const startedAt = performance.now();
      const response = await fetch(`${origin}${paths[turn++ % paths.length]}`, { headers: { cookie } });
      if (!response.ok) throw new Error(`the console query failed: ${response.status} ${await response.text()}`);
      await response.arrayBuffer();
      times.push(performance.now() - startedAt);
      await Bun.sleep(Math.max(0, startedAt + 1_000 / questionsPerSecond - performance.now()));
    }
  };
  return {
    times,
    begin: () => {
      isRunning = true;
      asking = askRepeatedly();
    },
    end: async () => {
      isRunning = false;
      await asking;
    },
  };
}

function pathsOf({ workspace, key, sampleRequest, now }: Filled): readonly string[] {
  const requests = (where: string, query: string) => `/api/workspaces/${where}/requests?limit=50${query}`;
  const usage = (where: string, days: number, by: string) =>
    `/api/workspaces/${where}/usage?from=${now - days * dayMs}&to=${now}&by=${by}`;
  return [
    requests(workspace, ""),
    requests("-", ""),
    requests(workspace, `&search=${sampleRequest.slice(0, 16)}`),
    usage(workspace, 1, "model"),
    requests(workspace, "&outcome=unsuccessful"),
    `/api/workspaces/${workspace}/keys?limit=50`,
    requests(workspace, `&model=${rareModel}`),
    `/api/workspaces/-/keys?limit=50&search=zz9`,
    requests(workspace, `&key=${key}`),
    usage(workspace, 30, "model"),
    `/api/workspaces/${workspace}/requests/${sampleRequest}`,
    requests("-", "&min_ms=100000"),
  ];
}
