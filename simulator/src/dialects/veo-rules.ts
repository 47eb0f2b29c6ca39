import { Refusal } from "../dialect.ts";
import { isObject, type JsonObject, stringOf } from "../json-body.ts";

/** Throws Refusal for requests that Veo would refuse. Some parameters are only accepted on Vertex. */
export function checkVeo(instance: JsonObject, parameters: JsonObject, vertex: boolean): void {
  const { prompt, image, video } = instance;
  if (stringOf(prompt) === "" && !isObject(image) && !isObject(video)) {
    throw new Refusal(400, "The request has neither a prompt nor an image.");
  }
  for (const name of vertex ? [] : vertexOnly) {
    if (parameters[name] !== undefined) {
      throw new Refusal(400, `\`${name}\` isn't supported by this model. Please remove it or refer to the docs.`);
    }
  }
  for (const [name, check] of Object.entries(checks)) {
    const value = parameters[name];
    if (value !== undefined && !check(value)) {
      throw new Refusal(400, `The value ${JSON.stringify(value)} for \`${name}\` is not supported.`);
    }
  }
}

const vertexOnly = ["seed", "fps", "generateAudio", "enhancePrompt", "storageUri", "mask", "labels", "resizeMode"];

const integer =
  (min: number, max: number) =>
  (value: unknown): boolean =>
    typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;

const checks: Readonly<Record<string, (value: unknown) => boolean>> = {
  aspectRatio: (value) => value === "16:9" || value === "9:16",
  resolution: (value) => ["720p", "1080p", "4k"].includes(stringOf(value)),
  durationSeconds: integer(4, 8),
  sampleCount: integer(1, 4),
};
