import type { LedgerEntry } from "#core/index.ts";
import { until } from "../../test/until.ts";
import type { MovedClock } from "./moved-clock.ts";
import { aliceKey, type StartedGateway } from "./started-gateway.ts";

/** A request for a background response. At 10 USD per million output tokens it holds about 0.07 USD. */
export const ask = { model: "gpt-test", input: "Say hello to everyone", background: true, max_output_tokens: 7_003 };
export const price = { input: 1, output: 10 };
/** 7,003 output tokens: 0.07003 USD, plus a few nano-USD for the input. */
export const done = { tokens: 3, reasoning_tokens: 7_000, background_ms: 20 };
export const never = { ...done, background_ms: 600_000 };
export const costUsd = 0.07;

/** Asks the upstream directly, so that the gateway has not polled it. `account`: the provider's id. */
export function finished({ simulator }: Pick<StartedGateway, "simulator">, id: string, account = "main") {
  const headers = { authorization: `Bearer sk-upstream-of-${account}` };
  return until(async () => {
    const seen = await fetch(`${simulator.url}/responses/${id}`, { headers });
    return ((await seen.json()) as { status: string }).status === "completed";
  });
}

/** Lets the gateway poll until every task is settled. Refused calls are not counted. */
export function settled(
  gateway: StartedGateway,
  clock: MovedClock,
  count: number,
  stepMs = 1_000,
): Promise<readonly LedgerEntry[]> {
  return until(async () => {
    clock.move(stepMs);
    const entries = (await gateway.entries()).filter(({ outcome }) => outcome !== "rejected");
    return entries.length === count && gateway.gateway.outstanding() === 0 ? entries : null;
  });
}

/** The key's budget use in USD, including holds. NaN if it cannot be counted now. */
export async function spentUsd(gateway: Pick<StartedGateway, "get">, key = aliceKey): Promise<number> {
  const usage = await gateway.get("/v1/usage", { authorization: `Bearer ${key}` });
  if (!usage.ok) return Number.NaN;
  const { limits } = (await usage.json()) as { limits: { kind: string; used: number }[] };
  return limits.find(({ kind }) => kind === "budget")?.used ?? 0;
}
