import type { TruthRecord } from "@sluice/simulator";
import { chat } from "../acceptance/chat-call.ts";
import { readKeyUsage } from "../acceptance/key-usage.ts";
import type { Replicas } from "../acceptance/replicas.ts";
import type { Gateway } from "../acceptance/start-gateway.ts";
import { until } from "../until.ts";
import { type Finding, finding, mostAtOnce, unlike } from "./proof.ts";
import { cutOffPlacesMax, provedKeys } from "./prove-config.ts";
import type { Ways } from "./ways.ts";

const metric = "sluice_redis_slots_beyond_lease";
/** Refusals in a row after which no more is granted. */
const refusalsEnough = 30;

/**
 * A replica is cut off from Redis for longer than its lease. Its streams go on and it admits no more; their places are granted once
 * more elsewhere, and not a single one beyond that.
 */
export async function proveCutOff({ gateways, simulator }: Replicas, ways: Ways): Promise<Finding> {
  const cut = gateways.length - 1;
  const [first, last] = [gateways[0], gateways[cut]];
  if (first === undefined || last === undefined || cut === 0) throw new Error("it takes two replicas");
  const each = cutOffPlacesMax / gateways.length;
  await simulator.clear();
  const calls = new HeldCalls();
  const faults: (string | null)[] = [];
  try {
    for (const gateway of gateways) {
      for (let call = 0; call < each; call++) faults.push(unlike("answer", await calls.begin(gateway), 200));
    }
    faults.push(unlike("answer to one more", await calls.begin(first), 429));

    await ways.set(cut, "Redis", { kind: "cut off" });
    await until(async () => (await readMetric(last)) === each);
    let more = 0;
    const fill = async (): Promise<void> => {
      for (let refusals = 0; refusals < refusalsEnough; ) {
        const answers = await Promise.all(gateways.slice(0, cut).map((gateway) => calls.begin(gateway)));
        const granted = answers.filter((status) => status === 200).length;
        more += granted;
        refusals = granted > 0 ? 0 : refusals + 1;
      }
    };
    // Redis ends the lease two seconds later than its owner does.
    await until(async () => {
      await fill();
      return more >= each;
    });
    const late = await calls.begin(last);
    if (late === 200) faults.push("the replica that is cut off has admitted a call after its lease");

    await ways.set(cut, "Redis", { kind: "fair" });
    await until(async () => (await readMetric(last)) === 0);
    const counted = await until(async () => {
      const running = (await readKeyUsage(first.url, provedKeys.cutOff))?.running ?? 0;
      return running >= cutOffPlacesMax + each ? running : null;
    });
    faults.push(unlike("counted when it is back", counted, cutOffPlacesMax + each));
    for (const gateway of gateways) faults.push(unlike("answer when it is back", await calls.begin(gateway), 429));

    const running = (await simulator.truth()).in_flight;
    faults.push(unlike("streams that still run", running, cutOffPlacesMax + each));
    calls.end();
    const truth: readonly TruthRecord[] = await simulator.settled();
    faults.push(unlike("most at the same time", mostAtOnce(truth), cutOffPlacesMax + each));
    await until(async () => (await readKeyUsage(first.url, provedKeys.cutOff))?.running === 0);
    return finding(
      `limit of ${cutOffPlacesMax} at the same time, a replica with ${each} cut off from Redis for longer than its lease`,
      `${mostAtOnce(truth)} at the same time, ${calls.refused} refused`,
      faults,
    );
  } finally {
    calls.end();
    await ways.set(cut, "Redis", { kind: "fair" });
  }
}

/** Streams that go on until they are ended here. */
class HeldCalls {
  readonly #leaving = new AbortController();
  refused = 0;

  /** Resolves to the status of the answer. */
  async begin({ url }: Gateway): Promise<number> {
    const script = { tokens: 100_000, event_ms: 500 };
    const answer = await chat(url, { key: provedKeys.cutOff, stream: true, script }, this.#leaving.signal);
    if (answer.status === 200) void drain(answer);
    else {
      this.refused += 1;
      await answer.text();
    }
    return answer.status;
  }

  end(): void {
    this.#leaving.abort();
  }
}

async function drain(answer: Response): Promise<void> {
  try {
    for await (const _bytes of answer.body ?? []);
  } catch {
    // It was left.
  }
}

async function readMetric({ url }: Gateway): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${metric} (\\d+)$`, "m").exec(text)?.[1] ?? Number.NaN);
}
