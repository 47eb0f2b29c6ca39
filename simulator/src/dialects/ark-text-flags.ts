import type { JsonObject } from "../json-body.ts";

/**
 * The flags that older models accept at the end of a text: `--resolution 720p --dur 5`. Unknown and malformed flags are ignored.
 * The long names are confirmed; the short names `rs`, `rt` and `dur` are from memory of the vendor's page.
 */
export function readTextFlags(text: string): JsonObject {
  const flags: Record<string, unknown> = {};
  for (const [, name = "", value = ""] of text.matchAll(/--([a-z]+)\s+(\S+)/g)) {
    const flag = names[name];
    if (flag === undefined) continue;
    if (flag === "resolution" && /^(?:480p|720p|1080p)$/.test(value)) flags[flag] = value;
    if (flag === "ratio" && /^(?:\d+:\d+|adaptive|keep_ratio)$/.test(value)) flags[flag] = value;
    if (["duration", "frames", "seed"].includes(flag) && /^\d{1,10}$/.test(value)) flags[flag] = Number(value);
  }
  return flags;
}

const names: Readonly<Record<string, string>> = {
  resolution: "resolution",
  rs: "resolution",
  ratio: "ratio",
  rt: "ratio",
  duration: "duration",
  dur: "duration",
  frames: "frames",
  seed: "seed",
};
