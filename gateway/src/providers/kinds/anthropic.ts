import type { Failure } from "#core/index.ts";
import { objectOf, textOf } from "#protocols/index.ts";
import { anthropicBatches } from "../batches/anthropic-batches.ts";
import { classifyByStatus, refusalObject } from "../classify-by-status.ts";
import { defineKind } from "../define-kind.ts";
import type { BadAnswer, OutboundDraft } from "../kind.ts";
import { anthropicFactors } from "../price-factors.ts";
import { claudeModels } from "../reasoning/claude-models.ts";
import { reasoningBy } from "../reasoning/reasoning-rule.ts";
import { withVersion } from "../settings.ts";
import { countTokens, messages, requireVersion } from "../standard-lanes.ts";
import {
  anthropicAuthFields,
  anthropicAuthProblem,
  anthropicTokens,
  authorizeAnthropic,
} from "../workload-identity.ts";

/** The vendor's SDK adds /v1 to the base URL, so both forms are accepted. */
export const anthropic = defineKind({
  id: "anthropic",
  title: "Anthropic",
  baseUrl: "https://api.anthropic.com/v1",
  variable: "ANTHROPIC",
  baseUrlHelp: "With or without /v1 at its end.",
  apiKeyHelp: "Create one at console.anthropic.com, under API keys.",
  fields: anthropicAuthFields,
  tokens: anthropicTokens,
  checkSettings: anthropicAuthProblem,
  priceFactors: anthropicFactors,
  reasoning: claudeModels,
  lanes: [{ ...messages, traits: { dropsMovedThoughts: true }, adjust: nameBinding }, countTokens],
  // https://platform.claude.com/docs/en/build-with-claude/message-threads, read on 2026-11-24.
  keepsThreads: true,
  batches: anthropicBatches,
  rootOf: withVersion,
  modelsQuery: "limit=1000",
  authorize: authorizeAnthropic,
  classify: classifyAnthropicShaped,
  // https://platform.claude.com/docs/en/about-claude/pricing, read on 2026-11-22.
  starterModels: [{ name: "claude-sonnet-5-5" }, { name: "claude-opus-5-5" }, { name: "claude-haiku-5-5" }],
});

/** Lets a translated call drop thoughts (`dropsMovedThoughts`). Only translated calls have no version header. */
function nameBinding(draft: OutboundDraft): void {
  const { headers, upstreamModel } = draft;
  const isTranslated = headers["anthropic-version"] === undefined;
  if (isTranslated && reasoningBy(claudeModels, upstreamModel)?.takes.bindsThoughts === true) {
    const named = headers["anthropic-beta"];
    headers["anthropic-beta"] = `${named === undefined ? "" : `${named},`}thinking-binding-controls-2026-08-01`;
  }
  requireVersion(draft);
}

/** Refusals are `{"type":"error","error":{type,message},"request_id"}`. 529 is an overload. */
function classifyAnthropicShaped(answer: BadAnswer): Failure {
  const error = objectOf(refusalObject(answer.body)["error"]);
  const type = textOf(error["type"]);
  // A thread exists in one account only, so another one cannot help.
  const isOfThread = textOf(objectOf(error["details"])["error_code"])?.startsWith("thread_") === true;
  if (isOfThread && answer.status < 500) return classifyByStatus(answer).with({ retry: "never" });
  if (type === "billing_error") return classifyByStatus(answer, { account: "credit" });
  // 403 concerns the account's key and names its organization.
  return classifyByStatus(answer, { account: answer.status === 403 ? "credential" : null });
}
