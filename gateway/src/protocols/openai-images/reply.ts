import type { ReplyFacts } from "../dialect.ts";
import { brokenReply, errorText } from "../errors/upstream-errors.ts";
import type { Span } from "../json/cursor.ts";
import { skimArray, skimObject, skimValue } from "../json/skim.ts";
import { readServed } from "../usage/read-served.ts";
import { imagesUsage } from "./usage.ts";

/** Pictures that are counted in one answer; vendors make 15 at most. */
const imagesPerReplyMax = 1_024;

const wanted: ReadonlySet<string> = new Set(["data", "model", "usage", "service_tier", "svg_usage", "error"]);
const wantedOfImage: ReadonlySet<string> = new Set(["error"]);

/** Reads a whole answer with pictures: how many there are, and what they used. The pictures are not looked at. */
export function readImagesReply(body: Uint8Array): ReplyFacts {
  const members = skimObject(body, 0, body.length, wanted);
  if (members === null) throw brokenReply("is not a JSON object");
  const data = members.get("data");
  const usage = skimValue(body, members.get("usage"));
  const error = skimValue(body, members.get("error"));
  const images = data === undefined ? null : countImages(body, data);
  return {
    usage:
      images === null && usage === null
        ? null
        : imagesUsage(usage, skimValue(body, members.get("svg_usage")), images ?? 0),
    served: readServed(
      {
        model: skimValue(body, members.get("model")),
        service_tier: skimValue(body, members.get("service_tier")),
      },
      usage,
    ),
    errorMessage: error !== null && images === null ? errorText(error) : null,
    outputEstimate: 0,
    id: null,
  };
}

/** Entries of `data` that are pictures: Ark puts the error of one that failed in its place. */
function countImages(body: Uint8Array, data: Span): number | null {
  const entries = skimArray(body, data, imagesPerReplyMax);
  if (entries === null) return null;
  return entries.filter((entry) => {
    const error = skimObject(body, entry.start, entry.end, wantedOfImage)?.get("error");
    return skimValue(body, error) === null;
  }).length;
}
