import type { TruthRecord } from "@sluice/simulator";
import { chat } from "../acceptance/chat-call.ts";
import { readKeyUsage } from "../acceptance/key-usage.ts";
import type { Replicas } from "../acceptance/replicas.ts";
import type { Gateway } from "../acceptance/start-gateway.ts";
import { until } from "../until.ts";
import { type Finding, finding, mismatch, mostAtOnce } from "./proof.ts";
import { cutOffConcurrencyMax, limitedKeys } from "./prove-config.ts";
import type { Proxies } from "./proxies.ts";

const metric = "sluice_redis_slots_beyond_lease";
/** After this many refusals in a row, nothing more is granted. */
const refusalsEnough = 30;

/**
 * Cuts a replica off from Redis for longer than its lease. Its streams continue and it admits nothing new; its share is granted
 * again to the other replicas, and not one call more.
 */
export async function proveCutOff({ gateways, simulator }: Replicas, proxies: Proxies): Promise<Finding> {
  const cut = gateways.length - 1;
  const [first, last] = [gateways[0], gateways[cut]];
  if (first === undefined || last === undefined || cut === 0) throw new Error("this needs two replicas");
  const each = cutOffConcurrencyMax / gateways.length;
  await simulator.clear();
  const calls = new OpenStreams();
  const faults: (string | null)[] = [];
  try {
    for (const gateway of gateways) {
      for (let call = 0; call < each; call++) faults.push(mismatch("status", await calls.begin(gateway), 200));
    }
    faults.push(mismatch("status of one call more", await calls.begin(first), 429));

    await proxies.set(cut, "Redis", { kind: "cut off" });
    await until(async () => (await readMetric(last)) === each);
    let extra = 0;
    const fill = async (): Promise<void> => {
      for (let refusals = 0; refusals < refusalsEnough; ) {
        const answers = await Promise.all(gateways.slice(0, cut).map((gateway) => calls.begin(gateway)));
        const granted = answers.filter((status) => status === 200).length;
        extra += granted;
        refusals = granted > 0 ? 0 : refusals + 1;
      }
    };
    // Redis expires the lease two seconds after its owner does.
    await until(async () => {
      await fill();
      return extra >= each;
    });
    const late = await calls.begin(last);
    if (late === 200) faults.push("the replica that is cut off admitted a call after its lease ended");

    await proxies.set(cut, "Redis", { kind: "normal" });
    await until(async () => (await readMetric(last)) === 0);
    const counted = await until(async () => {
      const running = (await readKeyUsage(first.url, limitedKeys.cutOff))?.running ?? 0;
      return running >= cutOffConcurrencyMax + each ? running : null;
    });
    faults.push(mismatch("concurrent calls after reconnecting", counted, cutOffConcurrencyMax + each));
    for (const gateway of gateways) faults.push(mismatch("status after reconnecting", await calls.begin(gateway), 429));

    const running = (await simulator.truth()).in_flight;
    faults.push(mismatch("running streams", running, cutOffConcurrencyMax + each));
    calls.end();
    const truth: readonly TruthRecord[] = await simulator.settled();
    faults.push(mismatch("most concurrent calls", mostAtOnce(truth), cutOffConcurrencyMax + each));
    await until(async () => (await readKeyUsage(first.url, limitedKeys.cutOff))?.running === 0);
    return finding(
      `limit of ${cutOffConcurrencyMax} concurrent calls, a replica with ${each} cut off from Redis for longer than its lease`,
      `${mostAtOnce(truth)} concurrent, ${calls.refused} refused`,
      faults,
    );
  } finally {
    calls.end();
    await proxies.set(cut, "Redis", { kind: "normal" });
  }
}

/** Streams that run until `end` is called. */
class OpenStreams {
  readonly #abort = new AbortController();
  refused = 0;

  /** Resolves to the status of the answer. */
  async begin({ url }: Gateway): Promise<number> {
    const script = { tokens: 100_000, event_ms: 500 };
    const answer = await chat(url, { key: limitedKeys.cutOff, stream: true, script }, this.#abort.signal);
    if (answer.status === 200) void drain(answer);
    else {
      this.refused += 1;
      await answer.text();
    }
    return answer.status;
  }

  end(): void {
    this.#abort.abort();
  }
}

async function drain(answer: Response): Promise<void> {
  try {
    for await (const _bytes of answer.body ?? []);
  } catch {
    // The stream was aborted.
  }
}

async function readMetric({ url }: Gateway): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${metric} (\\d+)$`, "m").exec(text)?.[1] ?? Number.NaN);
}
