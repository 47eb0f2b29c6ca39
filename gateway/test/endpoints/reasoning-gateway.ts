import type { ProviderConfig } from "@sluice/contract";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { version } from "./messages/claude-gateway.ts";
import { lastUpstream } from "./mixed-vendor-gateway.ts";

/** A model and its account, by provider type and settings. */
export interface UpstreamModel {
  readonly kind: string;
  readonly model: string;
  readonly settings?: NonNullable<ProviderConfig["settings"]>;
}

/** A gateway that serves each model under the name `kind/model`. */
export function reasoningGateway(all: readonly UpstreamModel[]): Promise<StartedGateway> {
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

export function nameOf(served: UpstreamModel): string {
  return `${accountOf(served)}/${served.model}`;
}

function accountOf({ kind, settings }: UpstreamModel): string {
  return settings === undefined ? kind : `${kind}-${Object.keys(settings).join("-")}`.replaceAll("_", "-");
}

export interface Received {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly warnings: string;
}

/** Sends a request to one endpoint and returns what the upstream received. */
export async function sendTo(
  gateway: StartedGateway,
  served: UpstreamModel,
  path: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<Received> {
  gateway.simulator.simulator.truth.clear();
  gateway.simulator.simulator.addPreset({ script: { keep_received: true }, count: 1, model: served.model });
  const body = { model: nameOf(served), ...fields };
  const answer = await gateway.post(path, body, { headers: version });
  const warnings = answer.headers.get("x-sluice-warnings") ?? "";
  const text = await answer.text();
  if (gateway.simulator.simulator.truth.list().data.length === 0)
    throw new Error(`no request reached the upstream: ${text}`);
  const { body: sent } = lastUpstream(gateway);
  return { status: answer.status, body: JSON.parse(sent) as Record<string, unknown>, warnings };
}
