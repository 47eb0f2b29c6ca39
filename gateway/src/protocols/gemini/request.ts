import { requestFields } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { PathFacts, RequestFacts } from "../dialect.ts";
import type { Edit } from "../json/bytes.ts";
import { OPEN_OBJECT, type Span } from "../json/cursor.ts";
import { JsonInvalid, JsonVariant, scanObject } from "../json/scan.ts";
import { missing, misspelt, wrong } from "../json/value.ts";
import { addressedMedia } from "../request/addressed-media.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { MemberChecks } from "../request/member-checks.ts";
import { bodyNames, checkedModelName, choosingIn, readLabel, readSmall, scanRequest } from "../request/members.ts";
import { listenFor, mediaHeard, objectAt } from "../request/named-objects.ts";
import { toolFacts } from "../request/tool-facts.ts";
import { geminiObjects, isVendorFile, objectsOfGemini } from "./objects.ts";
import { estimateTokens } from "./size-estimate.ts";

const checks = new MemberChecks(requestFields.generate);

/** The vendor reads both spellings of every name (protobuf's JSON mapping). */
const wanted = bodyNames([
  // The path says it; a body that says it too could say another.
  "model",
  "contents",
  "systemInstruction",
  "system_instruction",
  "tools",
  "generationConfig",
  "generation_config",
  "cachedContent",
  "cached_content",
  "continuationToken",
  "continuation_token",
]);
const wantedConfig = new GovernedNames(["maxOutputTokens", "max_output_tokens", "candidateCount", "candidate_count"]);

/** Reads what governs a generateContent request; the model and whether it streams are said by the path. */
export function readGeminiRequest(body: Uint8Array, path: PathFacts | null): RequestFacts {
  if (path === null) throw missing("model");
  const heard = listenFor(objectsOfGemini);
  const members = scanRequest(body, wanted, heard);
  checks.check(body, members);
  const contents = members.get("contents");
  const config = eitherOf(members, "generationConfig", "generation_config");
  const instruction = eitherOf(members, "systemInstruction", "system_instruction");
  return {
    model: checkedModelName(path.model),
    modelSpan: null,
    stream: path.stream,
    wantsUsage: true,
    ...(config === undefined ? { outputTokensMax: null } : outputFacts(body, config)),
    inputEstimate: estimateAll(body, [contents, instruction, members.get("tools")]),
    streamOptionsSpan: null,
    // A cache is known to one account only, and is worth something only there.
    affinity: readLabel(body, eitherOf(members, "cachedContent", "cached_content")),
    conversation: { system: instruction, messages: contents },
    continues: null,
    objects: [
      ...objectAt(body, eitherOf(members, "cachedContent", "cached_content"), "cachedContent"),
      ...objectAt(body, eitherOf(members, "continuationToken", "continuation_token"), "continuationToken"),
      ...geminiObjects(body, heard),
    ],
    keeps: null,
    choosing: members.has("model") ? ["model", ...(choosingIn(body, members) ?? [])] : choosingIn(body, members),
    ...toolFacts(body, members.get("tools")),
    images: 0,
    namesMedia: mediaHeard(heard),
    addressed: addressedMedia(body, heard, isVendorFile),
  };
}

/** The model is in the path: the body goes on as it is. */
export function geminiEdits(): readonly Edit[] {
  return [];
}

function outputFacts(body: Uint8Array, config: Span): Pick<RequestFacts, "outputTokensMax" | "choices"> {
  if (body[config.start] !== OPEN_OBJECT) return { outputTokensMax: null };
  const inner = body.subarray(config.start, config.end);
  const members = scanConfig(inner);
  const cap = readProtoCount(inner, members, "maxOutputTokens", "max_output_tokens");
  const candidates = readProtoCount(inner, members, "candidateCount", "candidate_count") ?? 1;
  return {
    outputTokensMax: cap === null ? null : cap * candidates,
    ...(candidates > 1 ? { choices: candidates } : {}),
  };
}

/** The vendor reads numbers in texts as well, and 0 as a member that is absent (protobuf's JSON mapping). */
function readProtoCount(
  inner: Uint8Array,
  members: ReadonlyMap<string, Span>,
  camel: string,
  snake: string,
): number | null {
  const span = eitherOf(members, camel, snake);
  const value = span === undefined ? null : readSmall(inner, span);
  if (value === null || value === 0) return null;
  const count = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0) return count === 0 ? null : count;
  throw wrong(`generationConfig.${camel}`, "must be a whole number of at least 0");
}

/** A member in one of its two spellings. In both at once the vendor and we could come to different values. */
export function eitherOf(members: ReadonlyMap<string, Span>, camel: string, snake: string): Span | undefined {
  const span = members.get(camel);
  if (span === undefined) return members.get(snake);
  if (members.has(snake)) throw wrong(snake, `stands beside "${camel}", which is the same parameter`);
  return span;
}

/** The whole body was checked before, so what is left to object to is a member that stands twice. */
function scanConfig(inner: Uint8Array): Map<string, Span> {
  try {
    return scanObject(inner, wantedConfig, wantedConfig);
  } catch (thrown) {
    if (thrown instanceof JsonVariant) throw misspelt(thrown.member, thrown.meant);
    if (!(thrown instanceof JsonInvalid)) throw thrown;
    throw new Failure("invalid_request", `generationConfig is not valid: ${thrown.message}.`, {
      param: "generationConfig",
    });
  }
}

function estimateAll(body: Uint8Array, spans: readonly (Span | undefined)[]): number {
  let tokens = 0;
  for (const span of spans) if (span !== undefined) tokens += estimateTokens(body, span);
  return tokens;
}
