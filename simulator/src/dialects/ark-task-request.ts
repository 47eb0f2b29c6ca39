import { Refusal } from "../dialect.ts";
import { countOf, type JsonObject, parseObject, stringOf } from "../json-body.ts";
import type { SimulatorRequest } from "../request.ts";
import type { Script } from "../script.ts";
import { splitMarker, splitModel } from "../script-source.ts";
import { countWords } from "../words.ts";
import { type ArkFamily, arkFamily, isBareFamily } from "./ark-family.ts";
import { type ArkContent, invalid, missing, readArkContent, unsupported } from "./ark-task-content.ts";
import { readTextFlags } from "./ark-text-flags.ts";

export interface ArkTaskRequest {
  readonly model: string;
  readonly content: ArkContent;
  readonly promptTokens: number;
  readonly script: Script;
  readonly seconds: number;
  readonly tokens: number;
  readonly callbackUrl: string | null;
  readonly expiresMs: number;
  readonly lastFrame: boolean;
  /** The fields that the task shows. */
  readonly shown: JsonObject;
}

/** Top-level fields are checked strictly; flags in the last text apply where the field is absent, and are never refused. */
export function readArkTask(request: SimulatorRequest): ArkTaskRequest {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "The request body is not a JSON object.", { code: "InvalidParameter" });
  const { model, script } = splitModel(stringOf(body["model"]));
  if (stringOf(body["model"]) === "") throw missing("model");
  if (isBareFamily(model)) {
    const message = `The model or endpoint ${model} does not exist or you do not have access to it.`;
    throw new Refusal(404, message, { code: "InvalidEndpointOrModel.NotFound" });
  }
  const family = arkFamily(model);
  checkFields(body, family);
  const content = readArkContent(body["content"], family);
  const promptParts = splitMarker(content.text);
  if (content.text === "" && content.materials.length === 0 && content.draftTask === null)
    throw missing("content.text");
  const options = { ...readTextFlags(content.text), ...topLevelFields(body) };
  const duration = countOf(options["duration"]);
  const frames = duration === null ? countOf(options["frames"]) : null;
  const seconds = frames === null ? (duration ?? 5) : frames / 24;
  const resolution = stringOf(options["resolution"]) || (family?.defaultResolution ?? "720p");
  const ratio = stringOf(options["ratio"]);
  return {
    model,
    content: { ...content, text: promptParts.text },
    promptTokens: countWords(promptParts.text),
    script: { ...script, ...promptParts.script },
    seconds,
    tokens: tokensOf(resolution, seconds),
    callbackUrl: stringOf(body["callback_url"]) || null,
    expiresMs: (countOf(body["execution_expires_after"]) ?? 172_800) * 1000,
    lastFrame: body["return_last_frame"] === true,
    shown: {
      ...(countOf(options["seed"]) === null ? {} : { seed: options["seed"] }),
      resolution,
      ratio: ratio === "" || ratio === "adaptive" || ratio === "keep_ratio" ? "16:9" : ratio,
      ...(frames === null ? { duration: seconds } : { frames }),
      framespersecond: 24,
      ...(family?.sound === false ? {} : { generate_audio: body["generate_audio"] !== false }),
      service_tier: stringOf(body["service_tier"]) || "default",
      execution_expires_after: countOf(body["execution_expires_after"]) ?? 172_800,
      ...echoes(body),
    },
  };
}

/** Pixels of 16:9 at 24 frames per second, divided by 1024; approximately the vendor's price page. */
function tokensOf(resolution: string, seconds: number): number {
  const pixels = { "480p": 864 * 480, "1080p": 1920 * 1080, "4k": 3840 * 2160 }[resolution] ?? 1280 * 720;
  return Math.round((pixels * 24 * seconds) / 1024);
}

/** Fields in the body, which override flags. */
function topLevelFields(body: JsonObject): JsonObject {
  const names = ["resolution", "ratio", "duration", "frames", "seed"];
  return Object.fromEntries(names.filter((name) => body[name] != null).map((name) => [name, body[name]]));
}

function echoes(body: JsonObject): JsonObject {
  const names = ["draft", "tools", "priority", "safety_identifier", "output_format", "reasoning_effort"];
  return Object.fromEntries(names.filter((name) => body[name] != null).map((name) => [name, body[name]]));
}

type Check = (value: unknown, family: ArkFamily | null) => boolean;

const flag: Check = (value) => typeof value === "boolean";
const text: Check = (value) => typeof value === "string" && value !== "";
const integer =
  (min: number, max: number): Check =>
  (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
const among =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(stringOf(value));

const checks: Readonly<Record<string, Check>> = {
  resolution: among("480p", "720p", "1080p", "4k"),
  ratio: among("16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive", "keep_ratio"),
  duration: (value, family) => {
    const [min, max] = family?.durations ?? [1, 60];
    return (value === -1 && (family?.durationFree ?? true)) || integer(min, max)(value, family);
  },
  frames: (value) => integer(29, 289)(value, null) && typeof value === "number" && (value - 25) % 4 === 0,
  seed: integer(-1, 2 ** 32 - 1),
  camera_fixed: flag,
  watermark: flag,
  generate_audio: flag,
  return_last_frame: flag,
  draft: flag,
  service_tier: among("default", "flex", "priority"),
  execution_expires_after: integer(3600, 259_200),
  priority: integer(0, 9),
  tools: (value) => Array.isArray(value),
  callback_url: (value) => text(value, null) && URL.canParse(stringOf(value)),
  safety_identifier: text,
};

function checkFields(body: JsonObject, family: ArkFamily | null): void {
  for (const [name, check] of Object.entries(checks)) {
    if (body[name] != null && !check(body[name], family)) throw invalid(name, "has a value that is not allowed");
  }
  if (family === null) return;
  const unsupportedFields: Readonly<Record<string, boolean>> = {
    frames: !family.frames,
    camera_fixed: !family.frames,
    generate_audio: !family.sound,
    draft: !family.drafts,
    priority: !family.priority,
  };
  for (const [name, isUnsupported] of Object.entries(unsupportedFields)) {
    if (isUnsupported && body[name] != null && body[name] !== false) throw unsupported(name);
  }
  if (body["service_tier"] === "flex" && !family.flex) throw unsupported("service_tier");
  const resolution = stringOf(body["resolution"]);
  if (resolution !== "" && !family.resolutions.includes(resolution)) throw unsupported("resolution");
}
