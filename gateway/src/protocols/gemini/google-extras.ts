import type { GoogleExtras, ReasoningRequest, Seal } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, countOf, isObject, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { warnOfUnsentMembers } from "../turn/warnings.ts";

/**
 * Options of Google's OpenAI-compatible endpoints: `extra_body.google` (Gemini) or `google` (Vertex). Source: Gemini API docs, "OpenAI
 * compatibility"; Google Cloud, "Call Gemini by using the OpenAI library".
 */
export function readGoogleExtras(request: JsonObject, warn: Warn): GoogleExtras | null {
  const body = objectOf(request["extra_body"]);
  warnOfUnsentMembers(body, new Set(["google"]), "extra_body", warn);
  const extras = googleMembers(request);
  warnOfUnsentMembers(extras, extraNames, "google", warn);
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

export function signatureIn(message: JsonObject): string | null {
  return textOf(extrasOf(message)["thought_signature"]) || null;
}

export function isThought(message: JsonObject): boolean {
  return extrasOf(message)["thought"] === true;
}

export function extraContent(seal: Pick<Seal, "dialect" | "data"> | null): JsonObject {
  return seal?.dialect === "gemini" ? { extra_content: { google: { thought_signature: seal.data } } } : {};
}

function extrasOf(message: JsonObject): JsonObject {
  return objectOf(objectOf(message["extra_content"])["google"]);
}

function googleMembers(request: JsonObject): JsonObject {
  return { ...objectOf(request["google"]), ...objectOf(objectOf(request["extra_body"])["google"]) };
}

const extraNames: ReadonlySet<string> = new Set(["thinking_config", "cached_content", "safety_settings"]);
