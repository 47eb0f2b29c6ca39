import type { ProviderConfig } from "@sluice/contract";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { version } from "./messages/claude-gateway.ts";
import { arrived } from "./moved-gateway.ts";

/** One model behind an account of a kind. */
export interface Served {
  readonly kind: string;
  readonly model: string;
  readonly settings?: NonNullable<ProviderConfig["settings"]>;
}

/** A gateway with each of them under the name `kind/model`. */
export function reasoningGateway(all: readonly Served[]): Promise<StartedGateway> {
  const accounts = [...new Map(all.map((one) => [accountOf(one), one])).values()];
  return startGateway({
    providers: (simulator) =>
      accounts.map((one) => upstream(accountOf(one), simulator, { kind: one.kind, settings: one.settings ?? {} })),
    models: all.map((one) => ({
      name: nameOf(one),
      deployments: [{ provider: accountOf(one), upstream_model: one.model }],
      price: { input: 1, output: 10 },
    })),
  });
}

export function nameOf(served: Served): string {
  return `${accountOf(served)}/${served.model}`;
}

function accountOf({ kind, settings }: Served): string {
  return settings === undefined ? kind : `${kind}-${Object.keys(settings).join("-")}`.replaceAll("_", "-");
}

export interface Told {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly warnings: string;
}

/** What an upstream is told when a caller of one endpoint asks for this. */
export async function toldTo(
  gateway: StartedGateway,
  served: Served,
  path: string,
  asked: Readonly<Record<string, unknown>>,
): Promise<Told> {
  gateway.simulator.simulator.truth.clear();
  gateway.simulator.simulator.addPreset({ script: { keep_received: true }, count: 1, model: served.model });
  const body = { model: nameOf(served), ...asked };
  const answer = await gateway.post(path, body, { headers: version });
  const warnings = answer.headers.get("x-sluice-warnings") ?? "";
  const text = await answer.text();
  if (gateway.simulator.simulator.truth.list().data.length === 0) throw new Error(`nothing arrived: ${text}`);
  const { body: sent } = arrived(gateway);
  return { status: answer.status, body: JSON.parse(sent) as Record<string, unknown>, warnings };
}
