import { editBody } from "../json/edit.ts";
import { readSpan } from "../json/scan.ts";
import { invalid, missingParam, objectOf, textOf } from "../json/value.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { readBoolean, scanRequest } from "../request/members.ts";

export interface CloudAsk {
  /** From the path; null: the body names it. */
  readonly model: string | null;
  /** null: it is in the body. */
  readonly stream: boolean | null;
  /** The body is one of CountTokens, with the request in base64. */
  readonly isWrapped?: boolean;
}

const wrapperMembers = new GovernedNames(["input"]);
const cloudMembers = new GovernedNames(["anthropic_version", "anthropic_beta", "stream"]);

/**
 * Converts a request for Claude at Amazon Bedrock or Google Cloud to a Messages request, and returns its betas, too. Sources: "Anthropic Claude
 * Messages API" of the Amazon Bedrock user guide; CountTokens of its API reference; "Claude on Vertex AI", platform.claude.com. Throws
 * Failure invalid_json, invalid_request or missing_required_parameter.
 */
export function openCloudMessages(given: Uint8Array, { model, stream, isWrapped }: CloudAsk) {
  const body = isWrapped === true ? unwrapped(given) : given;
  const members = scanRequest(body, cloudMembers);
  if (stream !== null && members.has("stream") && readBoolean(body, members.get("stream"), "stream") !== stream) {
    throw invalid("stream", "does not match the path");
  }
  const span = members.get("anthropic_beta");
  const betas = span === undefined ? [] : readSpan(body, span);
  if (!Array.isArray(betas) || !betas.every((beta) => typeof beta === "string" && /^[\w.-]{1,128}$/.test(beta))) {
    throw invalid("anthropic_beta", "must be a list of names");
  }
  const made = editBody(body, {
    remove: ["anthropic_version", "anthropic_beta"],
    add: {
      ...(model === null ? {} : { model: JSON.stringify(model) }),
      ...(stream === null ? {} : { stream: String(stream) }),
    },
  });
  return { made, answer: betas as readonly string[] };
}

function unwrapped(body: Uint8Array): Uint8Array {
  const span = scanRequest(body, wrapperMembers).get("input");
  const input = span === undefined ? null : readSpan(body, span);
  const inner = textOf(objectOf(objectOf(input)["invokeModel"])["body"]);
  if (inner === null) throw missingParam("input.invokeModel.body");
  return Buffer.from(inner, "base64");
}
