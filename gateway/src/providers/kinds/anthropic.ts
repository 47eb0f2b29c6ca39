import type { Failure } from "#core/index.ts";
import { objectOf, textOf } from "#protocols/index.ts";
import { classifyByStatus, refusalObject } from "../classify-by-status.ts";
import type { BadAnswer, OutboundDraft, ProviderKind } from "../kind.ts";
import { authorizeWith } from "../openai-shaped.ts";
import { anthropicFactors } from "../price-factors.ts";
import { claudeModels } from "../reasoning/claude-models.ts";
import { reasoningBy } from "../reasoning/reasoning-rule.ts";
import { withVersion } from "../settings.ts";
import { countTokens, messages, requireVersion } from "../standard-lanes.ts";

/** The base URL may be written with or without /v1: the vendor's SDK puts it there itself. */
export const anthropic: ProviderKind = {
  id: "anthropic",
  title: "Anthropic",
  baseUrl: "https://api.anthropic.com/v1",
  envKey: "ANTHROPIC_API_KEY",
  envBaseUrl: "ANTHROPIC_BASE_URL",
  baseUrlHelp: "With or without /v1 at its end.",
  apiKeyHelp: "Create one at console.anthropic.com, under API keys.",
  priceFactors: anthropicFactors,
  reasoning: claudeModels,
  lanes: [{ ...messages, traits: { dropsMovedThoughts: true }, adjust: nameBinding }, countTokens],
  // https://platform.claude.com/docs/en/build-with-claude/message-threads, read on 2026-11-24.
  keepsThreads: true,
  rootOf: withVersion,
  modelsQuery: "limit=1000",
  authorize: authorizeWith("x-api-key"),
  classify: classifyAnthropicShaped,
  // https://platform.claude.com/docs/en/about-claude/pricing, read on 2026-11-22.
  starterModels: [{ name: "claude-sonnet-5-5" }, { name: "claude-opus-5-5" }, { name: "claude-haiku-5-5" }],
};

/** The beta by which a translated call may ask that thoughts be dropped (`dropsMovedThoughts`). Only such a call brings no version. */
function nameBinding(draft: OutboundDraft): void {
  const { headers, upstreamModel } = draft;
  const isTranslated = headers["anthropic-version"] === undefined;
  if (isTranslated && reasoningBy(claudeModels, upstreamModel)?.takes.bindsThoughts === true) {
    const named = headers["anthropic-beta"];
    headers["anthropic-beta"] = `${named === undefined ? "" : `${named},`}thinking-binding-controls-2026-08-01`;
  }
  requireVersion(draft);
}

/** A bad answer whose error is `{"type":"error","error":{type,message},"request_id"}`. 529 is an overload. */
function classifyAnthropicShaped(answer: BadAnswer): Failure {
  const error = objectOf(refusalObject(answer.body)["error"]);
  const type = textOf(error["type"]);
  // What is wrong with a thread is so at its one account, and its caller knows what to do.
  const isOfThread = textOf(objectOf(error["details"])["error_code"])?.startsWith("thread_") === true;
  if (isOfThread && answer.status < 500) return classifyByStatus(answer).with({ retry: "never" });
  if (type === "billing_error") return classifyByStatus(answer, { account: "credit" });
  // 403 says what the account's key may do, and names the account's organisation.
  return classifyByStatus(answer, { account: answer.status === 403 ? "credential" : null });
}
