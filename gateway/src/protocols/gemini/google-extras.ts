import type { GoogleExtras, ReasoningRequest, Seal, Turn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, countOf, isObject, type JsonObject, objectOf, textOf, unsupported } from "../json/value.ts";
import { quotableName } from "../turn/warnings.ts";

/**
 * Options of Google's OpenAI-compatible endpoints: `extra_body.google` (Gemini) or `google` (Vertex). Source: Gemini API docs, "OpenAI
 * compatibility"; Google Cloud, "Call Gemini by using the OpenAI library".
 */
export function readGoogleExtras(request: JsonObject, warn: Warn): GoogleExtras | null {
  const body = objectOf(request["extra_body"]);
  for (const name in body) if (name !== "google") warn(`${quotableName(name)} of extra_body was left out`);
  const extras = googleMembers(request);
  for (const name in extras) if (!extraNames.has(name)) warn(`${quotableName(name)} of google was left out`);
  const cachedContent = textOf(extras["cached_content"]) || null;
  const settings = arrayOf(extras["safety_settings"]).filter(isObject);
  if (cachedContent === null && settings.length === 0) return null;
  return { cachedContent, safetySettings: settings };
}

export function readGoogleThinking(request: JsonObject): ReasoningRequest | null {
  const config = googleMembers(request)["thinking_config"];
  if (!isObject(config)) return null;
  const level = textOf(config["thinking_level"])?.toLowerCase() ?? null;
  return {
    effort: level === "minimal" || level === "low" || level === "medium" || level === "high" ? level : null,
    budgetTokens: countOf(config["thinking_budget"]),
    visible: config["include_thoughts"] === true,
  };
}

/** For other upstreams. Throws Failure unsupported_by_model for a cache at Google. */
export function leaveGoogleExtras({ google: extras }: Turn, warn: Warn): void {
  if (extras === undefined) return;
  if (extras.cachedContent !== null) {
    throw unsupported(
      "extra_body.google.cached_content",
      "Content cached at Google cannot be used with this upstream.",
    );
  }
  warn("safety_settings of google are not understood by the upstream and were left out");
}

export function signatureIn(said: JsonObject): string | null {
  return textOf(extrasOf(said)["thought_signature"]) || null;
}

export function isThought(said: JsonObject): boolean {
  return extrasOf(said)["thought"] === true;
}

export function extraContent(seal: Pick<Seal, "dialect" | "data"> | null): JsonObject {
  return seal?.dialect === "gemini" ? { extra_content: { google: { thought_signature: seal.data } } } : {};
}

function extrasOf(said: JsonObject): JsonObject {
  return objectOf(objectOf(said["extra_content"])["google"]);
}

function googleMembers(request: JsonObject): JsonObject {
  return { ...objectOf(request["google"]), ...objectOf(objectOf(request["extra_body"])["google"]) };
}

const extraNames: ReadonlySet<string> = new Set(["thinking_config", "cached_content", "safety_settings"]);
