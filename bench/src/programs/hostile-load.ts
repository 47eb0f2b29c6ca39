import { paths } from "../call-request.ts";
import { type HostileName, hostileBody } from "../hostile-bodies.ts";
import { answer, readSpec } from "./spec.ts";

/** Sends one hostile body, again and again, one at a time, and says how it was answered. */
export interface HostileSpec {
  readonly port: number;
  readonly key: string;
  readonly name: HostileName;
  readonly times: number;
  /** From one answer to the next request. */
  readonly gapMs: number;
}

export interface HostileAnswer {
  readonly statuses: readonly number[];
}

const { port, key, name, times, gapMs } = readSpec<HostileSpec>();
const { body, packed } = hostileBody(name);
const statuses: number[] = [];
for (let sent = 0; sent < times; sent++) {
  const response = await fetch(`http://127.0.0.1:${port}${paths.chat}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      ...(packed ? { "content-encoding": "gzip" } : {}),
    },
    body,
  });
  await response.arrayBuffer();
  statuses.push(response.status);
  await Bun.sleep(gapMs);
}
answer({ statuses } satisfies HostileAnswer);
process.exit(0);
