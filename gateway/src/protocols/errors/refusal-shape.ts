import type { Dialect } from "../dialect.ts";
import { isObject, type JsonObject, objectOf } from "../json/value.ts";

/**
 * Whose error a body is by its own looks, whatever was spoken to the upstream: Anthropic's models at Google Cloud refuse in
 * either shape, proxies in a third. null: no vendor's.
 */
export function refusalShape(body: Uint8Array): CallerShape | null {
  const said = firstObject(body);
  const error = said["error"];
  if (!isObject(error) || typeof error["message"] !== "string") return null;
  if (said["type"] === "error" && typeof error["type"] === "string") return "anthropic";
  return typeof error["code"] === "number" && typeof error["status"] === "string" ? "google" : "openai";
}

/** AWS's is no caller's, and is told by the lane. */
export type CallerShape = Exclude<Dialect["errorShape"], "aws">;

/** Google sends lists of one below its OpenAI face. */
function firstObject(body: Uint8Array): JsonObject {
  try {
    const value: unknown = JSON.parse(decoder.decode(body));
    return objectOf(Array.isArray(value) ? value[0] : value);
  } catch {
    return {};
  }
}

const decoder = new TextDecoder();
