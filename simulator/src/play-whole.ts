import { bounds } from "./bounds.ts";
import type { HeaderRow, Outlet } from "./outlet.ts";
import type { Pacer } from "./pacer.ts";
import type { Script } from "./script.ts";
import type { TruthRecord } from "./truth.ts";

export interface WholePlayback {
  readonly status: number;
  readonly headers: readonly HeaderRow[];
  readonly body: string;
  readonly script: Script;
  readonly outlet: Outlet;
  readonly pacer: Pacer;
  readonly record: TruthRecord;
}

/** Sends a body that is not a stream. A fault counted in events happens in its middle. */
export async function playWhole(playback: WholePlayback): Promise<void> {
  const { script, outlet, record, status, headers } = playback;
  const text = script.malformed === true ? playback.body.slice(0, playback.body.length >> 1) : playback.body;
  record.status = status;
  record.bytes_emitted = Buffer.byteLength(text);
  if (script.keep_sent === true) record.sent_body = text.slice(0, bounds.storedBytesMax);
  if (isPlain(script)) {
    await outlet.whole(status, headers, text);
    return;
  }
  const bytes = Buffer.from(text);
  if (script.content_length_delta !== undefined) {
    outlet.head(status, headers, Math.max(0, bytes.length + script.content_length_delta));
    await outlet.write(bytes);
    outlet.cut();
  } else if (script.one_byte_chunks === true) {
    outlet.head(status, headers, null);
    for (let at = 0; at < bytes.length && !outlet.closed; at += 1) await outlet.write(bytes.subarray(at, at + 1));
    await outlet.end();
  } else {
    await sendWithFault(playback, bytes);
  }
}

function isPlain(script: Script): boolean {
  return script.content_length_delta === undefined && script.one_byte_chunks !== true && !hasFaultInBody(script);
}

function hasFaultInBody(script: Script): boolean {
  return (
    script.cut_after_events !== undefined ||
    script.reset_after_events !== undefined ||
    script.stall_after_events !== undefined
  );
}

async function sendWithFault(playback: WholePlayback, bytes: Uint8Array): Promise<void> {
  const { script, outlet, pacer } = playback;
  const middle = bytes.length >> 1;
  outlet.head(playback.status, playback.headers, bytes.length);
  await outlet.write(bytes.subarray(0, middle));
  if (script.stall_after_events !== undefined) await pacer.pause(script.stall_ms ?? bounds.waitMsMax);
  if (script.cut_after_events !== undefined) return outlet.cut();
  if (script.reset_after_events !== undefined) return outlet.reset();
  await outlet.write(bytes.subarray(middle));
  await outlet.end();
}
