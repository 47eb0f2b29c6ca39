import type { GuardrailSide } from "@sluice/contract/words";
import type { Finding, Guardrail, WireDialectId } from "#core/index.ts";
import { asBuffer, readTexts, textsOf } from "#protocols/index.ts";
import { inspectTexts, type MaskedBytes, type Tally } from "./inspect.ts";
import { plainText } from "./json-text.ts";
import { type JudgedText, judgedText } from "./judged-texts.ts";
import { placeholderFinder } from "./placeholders.ts";
import { sideOf } from "./policy.ts";

/** A body to check in a thread. Plain data. */
export interface InspectAsk {
  readonly dialect: WireDialectId;
  readonly side: GuardrailSide;
  readonly guardrails: readonly Guardrail[];
  /** Placeholders that the call has issued. */
  readonly placeholders: readonly string[];
  /** More places to mask, by the index of their text. */
  readonly masks?: ReadonlyMap<number, readonly Finding[]>;
}

/** The result of a thread. Plain data. */
export interface InspectAnswer {
  /** One for each guardrail that finds places, in their order; null: nothing was found. */
  readonly tallies: readonly (Tally | null)[];
  readonly masked: readonly MaskedBytes[];
  readonly restored: readonly MaskedBytes[];
  readonly repeats: readonly { readonly start: number; readonly end: number; readonly text: string }[];
  readonly media: number;
  readonly sealed: number;
  /** For models and services; empty if no guardrail uses one. */
  readonly judged: readonly JudgedText[];
}

/** Checks a body. Throws if a text to mask is not UTF-8. */
export function inspectBody(body: Uint8Array, ask: InspectAsk, checkTime: () => void = nothing): InspectAnswer {
  const bytes = asBuffer(body);
  const texts = textsOf(ask.dialect);
  const { locating: rules, remote, filter } = sideOf(ask.guardrails);
  const isJudged = remote.length > 0;
  const placeholders = ask.placeholders.length === 0 ? null : placeholderFinder(ask.placeholders);
  const read = readTexts(bytes, ask.side === "input" ? texts.request : texts.answer, {
    filter: isJudged || placeholders !== null ? null : filter,
  });
  return {
    ...inspectTexts(bytes, read, { rules, placeholders, checkTime, masks: ask.masks }),
    ...{ repeats: read.repeats, media: read.media, sealed: read.sealed },
    judged: isJudged ? read.texts.map((span) => judgedText(span, plainText(bytes, span).text)) : [],
  };
}

function nothing(): void {}
