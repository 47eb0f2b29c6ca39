import type { ConsoleModel } from "@sluice/contract";
import type { ClaudeTiers } from "../../components/snippet-texts.ts";
import { isDemoName } from "../first-run/demo-name.ts";

/** Programs with high demands on a model: tools, thinking, long conversations. */
export type AgentId = "claude-code" | "codex";

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

/** Names of the vendor that made the agent. */
const home: Readonly<Record<AgentId, RegExp>> = { "claude-code": /claude/i, codex: /gpt|codex/i };
const small = /(?<![a-z])(?:haiku|mini|nano|lite|flash|small|tiny|instant)(?![a-z])|(?<!\d)[1-9]b(?![a-z])/i;
/** Variants that a team rarely means: fine-tuned, dated, open-weight, previews. */
const unusual = /(?<![a-z])(?:ft|oss)(?![a-z])|preview|experiment|20\d{2}-?\d{2}/i;

/** Orders names that fit equally well: large models before small ones, then the newest version. Not by the alphabet. */
function byStrength(agent: AgentId | null, one: string, other: string): number {
  const marks = (name: string) => [
    agent === null || home[agent].test(name) ? 0 : 1,
    small.test(name) ? 1 : 0,
    unusual.test(name) ? 1 : 0,
    agent === "claude-code" && !/sonnet/i.test(name) ? 1 : 0,
  ];
  const [left, right] = [marks(one), marks(other)];
  for (const [place, mark] of left.entries()) {
    const difference = mark - (right[place] ?? 0);
    if (difference !== 0) return difference;
  }
  // Versions compare only within one vendor's names.
  return agent !== null && home[agent].test(one) ? other.localeCompare(one, "en", { numeric: true }) : 0;
}

/** The models for Claude Code's names `opus`, `sonnet` and `haiku`: one of that name if there is one, else the chosen model. */
export function tiersFor(model: string, { fit }: AgentModels): ClaudeTiers {
  const tier = (name: string) => fit.find((each) => each.includes(name) && /claude/i.test(each)) ?? model;
  return { opus: tier("opus"), sonnet: tier("sonnet"), haiku: tier("haiku") };
}

/** Chat models, ranked for an agent. `agent` null: any program, so every model fits. The demo model comes last. */
export function modelsFor(agent: AgentId | null, models: readonly Served[]): AgentModels {
  const chat = models.filter(({ type }) => type === "chat");
  const rankOf = (model: Served) => (agent === null ? 0 : rank(agent, model));
  const sorted = chat.toSorted(
    (one, other) =>
      Number(isDemoName(one.name)) - Number(isDemoName(other.name)) ||
      compareRanks(rankOf(one), rankOf(other)) ||
      byStrength(agent, one.name, other.name),
  );
  const isFit = (model: Served) => Number.isFinite(rankOf(model));
  return {
    fit: sorted.filter(isFit).map(({ name }) => name),
    others: sorted.filter((model) => !isFit(model)).map(({ name }) => name),
  };
}

function compareRanks(one: number, other: number): number {
  return one === other ? 0 : one - other;
}

function rank(agent: AgentId, { endpoints, untranslated_endpoints: untranslated }: Served): number {
  const place = best[agent].findIndex((path) => untranslated.includes(path));
  return place === -1 || !endpoints.includes(nativeEndpoint[agent]) ? Number.POSITIVE_INFINITY : place;
}
