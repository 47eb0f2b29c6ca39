import { Failure } from "#core/index.ts";
import { asBuffer, editBody, readSpan, scanObject, type Warn } from "#protocols/index.ts";
import { asMaxTokens, withoutStreamOptions } from "../chat-quirks.ts";
import type { OutboundDraft } from "../kind.ts";
import { openaiLike } from "../openai-like.ts";
import { mistralModels } from "../reasoning/vendor-models.ts";
import { chatWith, embeddings, moderations, transcriptions } from "../standard-lanes.ts";

/** Refuses members it does not know (422 extra_forbidden), and tells usage in every stream unasked. */
export const mistral = openaiLike({
  id: "mistral",
  title: "Mistral",
  baseUrl: "https://api.mistral.ai/v1",
  variable: "MISTRAL",
  apiKeyHelp: "Create one at console.mistral.ai, under API keys.",
  reasoning: mistralModels,
  lanes: [
    {
      ...chatWith({ outputCapName: "max_tokens", strictTurns: true, usage: { soundInTotal: true } }),
      adjust: asMistralTakes,
    },
    {
      ...{ endpoint: "completions", dialect: "mistral-fim", path: "/fim/completions" },
      fits: (model) => model.toLowerCase().includes("codestral"),
      adjust: asFimTakes,
    },
    embeddings,
    moderations,
    transcriptions,
  ],
});

/** Source: Mistral's API reference, "FIM": members of OpenAI's that it does not have are refused there. */
function asFimTakes(draft: OutboundDraft, warn?: Warn): void {
  const { body } = draft;
  if (body === null) return;
  const members = scanObject(body, new Set(["prompt", "n", ...lost, ...free]));
  const prompt = members.get("prompt");
  if (prompt !== undefined && body[prompt.start] !== QUOTE) throw refused("prompt", "takes one text as its prompt");
  const choices = members.get("n");
  if (choices !== undefined && Number(readSpan(body, choices) ?? 1) > 1)
    throw refused("n", "gives one answer at a time");
  for (const name of lost) {
    const said = members.get(name);
    if (said !== undefined && readSpan(body, said)) warn?.(leftOut(name));
  }
  draft.body = editBody(body, { remove: ["n", ...lost, ...free], rename: { seed: "random_seed" } });
}

function leftOut(name: string): string {
  return `${name} is not understood by the upstream and was left out`;
}

function refused(param: string, why: string): Failure {
  return new Failure("unsupported_by_model", `This model's upstream ${why}.`, { param, retry: "other" });
}

const QUOTE = 0x22;
/** What the caller would miss. */
const lost = ["echo", "logprobs", "logit_bias", "presence_penalty", "frequency_penalty"];
/** What changes nothing of the answer; usage is told unasked. */
const free = ["stream_options", "user", "best_of", "prompt_cache_key"];

/** Source: Mistral's API reference, "Chat Completion". Claude Code and Codex name a user with every call. */
function asMistralTakes(draft: OutboundDraft, warn?: Warn): void {
  asMaxTokens(draft);
  withoutStreamOptions(draft);
  const { body } = draft;
  if (body === null || !marksOfChat.some((mark) => asBuffer(body).includes(mark))) return;
  const members = scanObject(body, new Set(lostOfChat));
  for (const name of lostOfChat) {
    const said = members.get(name);
    if (said !== undefined && !usualTiers.has(readSpan(body, said))) warn?.(leftOut(name));
  }
  draft.body = editBody(body, { remove: [...unknown, ...lostOfChat], rename: { seed: "random_seed" } });
}

/** What changes nothing of the answer. */
const unknown = ["user", "safety_identifier"];
const lostOfChat = ["verbosity", "service_tier"];
/** A quick look that spares most bodies the scan: the role of a user is a value. */
const marksOfChat = ["seed", ...unknown, ...lostOfChat].map((name) => `"${name}":`);
const usualTiers: ReadonlySet<unknown> = new Set([null, "auto", "default"]);
