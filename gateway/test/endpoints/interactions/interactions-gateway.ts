import type { KeyConfig } from "@sluice/contract";
import { aliceKey, type Overrides, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

export const malloryKey = "sk-mallory-0123456789abcdefghij";

/** Accounts of Gemini that two workspaces share. */
export function startInteractions(overrides: Overrides = {}, accounts: readonly string[] = ["google"]) {
  return startGateway({
    providers: (simulator) =>
      accounts.map((id) => upstream(id, simulator, { kind: "gemini", base_url: `${originOf(simulator.url)}/v1beta` })),
    models: [
      {
        name: "gemini",
        deployments: accounts.map((provider) => ({ provider, upstream_model: "gemini-3-sim" })),
        price: { input: 1, cache_read: 0.1, output: 10 },
      },
      {
        name: "research",
        deployments: accounts.map((provider) => ({ provider, upstream_model: "deep-research-sim" })),
        price: { input: 1, output: 10 },
      },
    ],
    keys: [{ name: "alice", secret: aliceKey } satisfies KeyConfig],
    moreWorkspaces: [{ slug: "rival", groups: [{ name: "default" }], keys: [{ name: "mallory", secret: malloryKey }] }],
    ...overrides,
  });
}

function originOf(url: string): string {
  return new URL(url).origin;
}

export interface Interaction {
  readonly id: string;
  readonly status: string;
  readonly steps?: readonly { readonly type: string; readonly content?: readonly { readonly text?: string }[] }[];
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly continuation_token?: string;
}

export async function create(
  gateway: StartedGateway,
  body: object = {},
  script: Parameters<StartedGateway["post"]>[2] = {},
): Promise<Interaction> {
  const request = { model: "gemini", input: "Say hello to everyone", ...body };
  return (await (await gateway.post("/v1beta/interactions", request, script)).json()) as Interaction;
}

export async function errorOf(response: Response) {
  const { error } = (await response.json()) as { error: { message: string; code: string } };
  return { status: response.status, ...error };
}

export interface InteractionEvent {
  readonly event_type: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly interaction?: Interaction;
}

/** The events of a stream, without `[DONE]`. */
export function eventsIn(text: string): readonly InteractionEvent[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as InteractionEvent);
}
