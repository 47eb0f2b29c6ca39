import { type HostileName, hostileRequest } from "../hostile-requests.ts";
import { answer, readSpec } from "./spec.ts";

/** Sends one hostile request repeatedly, one at a time, and reports the statuses. */
export interface HostileSpec {
  readonly port: number;
  readonly key: string;
  /** A key with a limit of one request. */
  readonly limitedKey: string;
  readonly name: HostileName;
  readonly times: number;
  /** Pause between a response and the next request. */
  readonly gapMs: number;
}

export interface HostileAnswer {
  readonly statuses: readonly number[];
}

const { port, key, limitedKey, name, times, gapMs } = readSpec<HostileSpec>();
const { path, caller, body, packed } = hostileRequest(name);
const secrets = { key, limited: limitedKey, nobody: null } as const;
const secret = secrets[caller];
const statuses: number[] = [];
for (let sent = 0; sent < times; sent++) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: {
      ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
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
