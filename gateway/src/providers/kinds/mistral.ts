import { Failure } from "#core/index.ts";
import { asBuffer, editBody, readSpan, scanObject, type Warn } from "#protocols/index.ts";
import { dropStreamOptions, renameToMaxTokens } from "../chat-quirks.ts";
import { defineKind } from "../define-kind.ts";
import type { OutboundDraft } from "../kind.ts";
import { mistralModels } from "../reasoning/vendor-models.ts";
import { chatWith, embeddings, moderations, transcriptions } from "../standard-lanes.ts";

/** Refuses unknown fields (422 extra_forbidden), and always streams usage. */
export const mistral = defineKind({
  id: "mistral",
  title: "Mistral",
  baseUrl: "https://api.mistral.ai/v1",
  variable: "MISTRAL",
  apiKeyHelp: "Create one at console.mistral.ai, under API keys.",
  reasoning: mistralModels,
  lanes: [
    {
      ...chatWith({ outputCapName: "max_tokens", strictTurns: true, usage: { soundInTotal: true } }),
      adjust: adjustChat,
    },
    {
      ...{ endpoint: "completions", dialect: "mistral-fim", path: "/fim/completions" },
      fits: (model) => model.toLowerCase().includes("codestral"),
      adjust: adjustFim,
    },
    embeddings,
    moderations,
    transcriptions,
  ],
});

/** Source: Mistral's API reference, "FIM". */
function adjustFim(draft: OutboundDraft, warn?: Warn): void {
  const { body } = draft;
  if (body === null) return;
  const members = scanObject(body, new Set(["prompt", "n", ...warnedFields, ...droppedFields]));
  const prompt = members.get("prompt");
  if (prompt !== undefined && body[prompt.start] !== QUOTE) throw refused("prompt", "takes one text as its prompt");
  const choices = members.get("n");
  if (choices !== undefined && Number(readSpan(body, choices) ?? 1) > 1)
    throw refused("n", "gives one answer at a time");
  for (const name of warnedFields) {
    const span = members.get(name);
    if (span !== undefined && readSpan(body, span)) warn?.(leftOut(name));
  }
  draft.body = editBody(body, { remove: ["n", ...warnedFields, ...droppedFields], rename: { seed: "random_seed" } });
}

function leftOut(name: string): string {
  return `${name} is not supported by the upstream and was dropped`;
}

function refused(param: string, why: string): Failure {
  return new Failure("unsupported_by_model", `This model's upstream ${why}.`, { param, retry: "other" });
}

const QUOTE = 0x22;
/** Dropped with a warning. */
const warnedFields = ["echo", "logprobs", "logit_bias", "presence_penalty", "frequency_penalty"];
/** Dropped silently: they do not change the answer. */
const droppedFields = ["stream_options", "user", "best_of", "prompt_cache_key"];

/** Source: Mistral's API reference, "Chat Completion". Claude Code and Codex send a user with every call. */
function adjustChat(draft: OutboundDraft, warn?: Warn): void {
  renameToMaxTokens(draft);
  dropStreamOptions(draft);
  const { body } = draft;
  if (body === null || !chatMarks.some((mark) => asBuffer(body).includes(mark))) return;
  const members = scanObject(body, new Set(warnedChatFields));
  for (const name of warnedChatFields) {
    const span = members.get(name);
    if (span !== undefined && !usualTiers.has(readSpan(body, span))) warn?.(leftOut(name));
  }
  draft.body = editBody(body, { remove: [...droppedChatFields, ...warnedChatFields], rename: { seed: "random_seed" } });
}

const droppedChatFields = ["user", "safety_identifier"];
const warnedChatFields = ["verbosity", "service_tier"];
/** Avoids a scan of most bodies; the colon excludes the role "user". */
const chatMarks = ["seed", ...droppedChatFields, ...warnedChatFields].map((name) => `"${name}":`);
const usualTiers: ReadonlySet<unknown> = new Set([null, "auto", "default"]);
