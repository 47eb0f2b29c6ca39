import type { ConsoleModel } from "@sluice/contract";
import { isDemoName } from "../first-run/demo-name.ts";

/** Programs with high demands on a model: tools, thinking, long conversations. */
export const agents = ["claude-code", "codex"] as const;
export type AgentId = (typeof agents)[number];

type Served = Pick<ConsoleModel, "name" | "type" | "endpoints" | "untranslated_endpoints">;

export interface AgentModels {
  /** Model names, the best first. */
  readonly fit: readonly string[];
  readonly others: readonly string[];
}

/**
 * Endpoints that need no or little translation of an agent's calls (docs/translation.md), the best first: reasoning is sent back to the
 * model, tools stay strict, documents are forwarded. Codex can use chat models, too.
 */
const best: Readonly<Record<AgentId, readonly string[]>> = {
  "claude-code": ["/v1/messages", "/v1/responses", "/v1beta/models/{model}:generateContent"],
  codex: ["/v1/responses", "/v1/chat/completions"],
};
const nativeEndpoint: Readonly<Record<AgentId, string>> = { "claude-code": "/v1/messages", codex: "/v1/responses" };

/** Chat models, ranked for an agent. `agent` null: any program, so all of them fit. The demo model comes last. */
export function modelsFor(agent: AgentId | null, models: readonly Served[]): AgentModels {
  const chat = models.filter(({ type }) => type === "chat");
  const rankOf = (model: Served) => (agent === null ? 0 : rank(agent, model));
  const sorted = chat.toSorted(
    (one, other) => Number(isDemoName(one.name)) - Number(isDemoName(other.name)) || rankOf(one) - rankOf(other),
  );
  const isFit = (model: Served) => Number.isFinite(rankOf(model));
  return {
    fit: sorted.filter(isFit).map(({ name }) => name),
    others: sorted.filter((model) => !isFit(model)).map(({ name }) => name),
  };
}

function rank(agent: AgentId, { endpoints, untranslated_endpoints: untranslated }: Served): number {
  const place = best[agent].findIndex((path) => untranslated.includes(path));
  return place === -1 || !endpoints.includes(nativeEndpoint[agent]) ? Number.POSITIVE_INFINITY : place;
}
