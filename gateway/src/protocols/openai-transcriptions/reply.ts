import type { ReplyFacts } from "../dialect.ts";
import { replyReader } from "../passed-json.ts";
import { secondsUsage, transcriptUsage } from "./usage.ts";

/** JSON with its usage or its length, subtitles whose last time says the length, or plain text, which tells nothing. */
export function readTranscript(body: Uint8Array): ReplyFacts {
  if (isObject(body)) {
    const facts = readJson(body);
    return facts.usage === null ? { ...facts, outputEstimate: Math.ceil(body.length / 4) } : facts;
  }
  const reading = secondsUsage(lastTime(body));
  return {
    usage: reading === null ? null : { ...reading, raw: "{}" },
    errorMessage: null,
    outputEstimate: Math.ceil(body.length / 4),
    id: null,
  };
}

const readJson = replyReader(
  ["text", "segments"],
  ["usage", "duration"],
  (member) => transcriptUsage(member("usage")) ?? secondsUsage(member("duration")),
);

function isObject(body: Uint8Array): boolean {
  let at = 0;
  while (at < body.length && (body[at] ?? 0) <= 0x20) at++;
  return body[at] === 0x7b;
}

/** The end of the last line of SRT or WebVTT: `00:01:02,500 --> 00:01:04,000`. Only the last bytes are looked at. */
function lastTime(body: Uint8Array): number | null {
  const text = new TextDecoder().decode(body.subarray(Math.max(0, body.length - tailBytes)));
  const arrow = text.lastIndexOf(" --> ");
  const found = arrow === -1 ? null : timePattern.exec(text.slice(arrow + 5, arrow + 25));
  if (found === null) return null;
  return Number(found[1] ?? 0) * 3_600 + Number(found[2]) * 60 + Number(found[3]) + Number(found[4]) / 1_000;
}

const timePattern = /^(?:(\d{1,4}):)?(\d{2}):(\d{2})[.,](\d{3})/;
const tailBytes = 16_384;
