import { requestFields } from "@sluice/contract/words";
import type { RequestFacts } from "../dialect.ts";
import type { Edit } from "../json/bytes.ts";
import { OPEN_OBJECT, type Span } from "../json/cursor.ts";
import { addressedMedia } from "../request/addressed-media.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { MemberChecks } from "../request/member-checks.ts";
import {
  bodyNames,
  choosingIn,
  readBoolean,
  readCount,
  readLabel,
  readModel,
  scanRequest,
  sizeOf,
} from "../request/members.ts";
import { listenFor, nestedObjects, objectNames } from "../request/named-objects.ts";
import { namedModel } from "../request/tool-facts.ts";

const checks = new MemberChecks(requestFields.images);

const objectsOfImages = objectNames(["file_id"], ["file_id"]);
const wanted = bodyNames([
  "model",
  "prompt",
  "stream",
  "n",
  "user",
  "sequential_image_generation",
  "sequential_image_generation_options",
  "svg",
]);
const wantedOption = new GovernedNames(["max_images"]);

/**
 * Reads what governs a request for pictures, made or edited, with a JSON body. Source: OpenAI API reference, "Create
 * image" and "Create image edit"; Ark's, which counts pictures in `sequential_image_generation_options`.
 */
export function readImagesRequest(body: Uint8Array): RequestFacts {
  const heard = listenFor(objectsOfImages);
  const members = scanRequest(body, wanted, heard);
  checks.check(body, members);
  const modelSpan = members.get("model");
  const model = readModel(body, modelSpan);
  return {
    model,
    modelSpan: modelSpan ?? null,
    stream: readBoolean(body, members.get("stream"), "stream"),
    wantsUsage: true,
    outputTokensMax: null,
    inputEstimate: promptEstimate(sizeOf(members.get("prompt")) - 2),
    streamOptionsSpan: null,
    affinity: readLabel(body, members.get("user")),
    continues: null,
    keeps: null,
    choosing: choosingIn(body, members),
    namedModels: namedModel(body, members.get("svg"), "svg"),
    objects: nestedObjects(body, objectsOfImages, heard).map((object) => ({ ...object, isPicture: true as const })),
    addressed: addressedMedia(body, heard),
    images: Math.max(1, readCount(body, members.get("n")) ?? 1, seriesMax(body, members)),
  };
}

export function imagesEdits(_body: Uint8Array, facts: RequestFacts, upstreamModel: string): readonly Edit[] {
  if (facts.modelSpan === null || upstreamModel === facts.model) return [];
  const { start, end } = facts.modelSpan;
  return [{ start, end, text: JSON.stringify(upstreamModel) }];
}

/** Tokens of a prompt of this many bytes. Pictures that are sent along are counted by the upstream. */
export function promptEstimate(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** How many pictures Ark makes at most when it may make a series and the request does not say. */
const seriesDefault = 15;

function seriesMax(body: Uint8Array, members: ReadonlyMap<string, Span>): number {
  const series = members.get("sequential_image_generation");
  if (series === undefined || readLabel(body, series) !== "auto") return 1;
  const options = members.get("sequential_image_generation_options");
  if (options === undefined || body[options.start] !== OPEN_OBJECT) return seriesDefault;
  const inner = body.subarray(options.start, options.end);
  return readCount(inner, scanRequest(inner, wantedOption).get("max_images")) ?? seriesDefault;
}
