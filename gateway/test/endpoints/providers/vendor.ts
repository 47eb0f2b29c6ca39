import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ProviderConfig } from "@sluice/contract";
import { until } from "../../../../test/until.ts";
import { aliceKey, type Overrides, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

/** One request as the vendor received it, byte for byte. */
interface Received {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface Vendor {
  readonly url: string;
  readonly received: readonly Received[];
  readonly last: Received;
  /** Answers the next requests. By default with an empty list of files. */
  answer: (received: Received, response: ServerResponse) => void | Promise<void>;
  stop(): void;
}

/** A vendor with an API that the gateway does not know. It records its requests. */
export async function startVendor(): Promise<Vendor> {
  const received: Received[] = [];
  const vendor = {
    url: "",
    received,
    get last(): Received {
      const last = received.at(-1);
      if (last === undefined) throw new Error("the vendor received no request");
      return last;
    },
    answer: (_: Received, response: ServerResponse): void | Promise<void> => {
      response.setHeader("content-type", "application/json");
      response.end('{"object":"list","data":[]}');
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  const server: Server = createServer((request, response) => {
    void bodyOf(request).then(async (body) => {
      const one = { method: request.method ?? "", target: request.url ?? "", headers: request.headers, body };
      received.push(one);
      await vendor.answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vendor.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return vendor;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** Workspace settings that allow Alice's key to call the provider `own`. */
export const ownGrant = {
  pass_through: ["own"],
  groups: [{ name: "default", pass_through: ["own"] }],
  keys: [{ name: "alice", secret: aliceKey, pass_through: ["own"] }],
} as const satisfies Overrides["workspace"];

/** A gateway whose key may call the whole API of the vendor. */
export function startGranted(
  vendor: Vendor,
  provider: Partial<ProviderConfig> = {},
  more: Overrides = {},
): Promise<StartedGateway> {
  return startGateway({
    providers: (simulator) => [
      upstream("own", simulator, { base_url: vendor.url, ...provider }),
      upstream("main", simulator),
    ],
    ...more,
    workspace: { ...ownGrant, ...more.workspace } as never,
  });
}

/** Waits until the gateway has read the budgets of Alice's key. Until then it answers with 503. */
export async function waitForBudgets(gateway: StartedGateway): Promise<void> {
  await until(async () => {
    const { limits } = (await (await gateway.get("/v1/usage")).json()) as {
      limits?: readonly { used: number | null }[];
    };
    return limits?.every(({ used }) => used !== null);
  });
}

/** A call with Alice's key. `path` is below /v1/providers/own. */
export function call(gateway: StartedGateway, method: string, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/providers/own${path}`, {
    method,
    redirect: "manual",
    ...init,
    headers: { authorization: `Bearer ${aliceKey}`, ...(init.headers as Record<string, string>) },
  });
}
