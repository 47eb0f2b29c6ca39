import { bounds } from "./bounds.ts";
import type { ByteSource } from "./byte-source.ts";
import type { HeaderRow, Outlet } from "./outlet.ts";
import type { Pacer } from "./pacer.ts";
import type { SimulatorRequest } from "./request.ts";
import type { Script } from "./script.ts";
import type { TruthRecord } from "./truth.ts";

export interface BytesPlayback {
  readonly request: SimulatorRequest;
  readonly source: ByteSource;
  readonly headers: readonly HeaderRow[];
  readonly script: Script;
  readonly outlet: Outlet;
  readonly pacer: Pacer;
  readonly record: TruthRecord;
}

/**
 * Sends all bytes, or the one range that was requested, in pieces with `event_ms` between them. A fault counted in
 * events happens in the middle.
 */
export async function playBytes(playback: BytesPlayback): Promise<void> {
  const { request, source, outlet, record } = playback;
  const range = rangeOf(request.headers["range"], source.size);
  const headers = [...playback.headers];
  if (range === "unsatisfiable") {
    record.status = 416;
    await outlet.whole(416, [...headers, ["content-range", `bytes */${source.size}`]], "");
    return;
  }
  const { from, to } = range ?? { from: 0, to: source.size };
  record.status = range === null ? 200 : 206;
  if (range !== null) headers.push(["content-range", `bytes ${from}-${to - 1}/${source.size}`]);
  outlet.head(record.status, headers, to - from);
  const middle = from + ((to - from) >> 1);
  await send(playback, from, middle);
  if (await applyFault(playback)) return;
  await send(playback, middle, to);
  if (!outlet.closed) await outlet.end();
  record.terminal_sent = record.aborted_at === null;
}

async function send({ source, outlet, record, script, pacer }: BytesPlayback, from: number, to: number): Promise<void> {
  for (let at = from; at < to && !outlet.closed; at += bounds.bytesPiece) {
    if (record.bytes_emitted > 0 && (script.event_ms ?? 0) > 0) await pacer.pause(script.event_ms ?? 0);
    const piece = source.piece(at, Math.min(to, at + bounds.bytesPiece));
    record.bytes_emitted += piece.length;
    await outlet.write(piece);
  }
}

/** Returns true if the answer is over. */
async function applyFault({ script, outlet, pacer }: BytesPlayback): Promise<boolean> {
  if (script.stall_after_events !== undefined) await pacer.pause(script.stall_ms ?? bounds.waitMsMax);
  if (script.cut_after_events !== undefined) outlet.cut();
  if (script.reset_after_events !== undefined) outlet.reset();
  return outlet.closed;
}

type Range = { readonly from: number; readonly to: number };

/** RFC 9110 §14: one range in bytes. Null if there is none, several, or an invalid one: then everything is sent. */
function rangeOf(header: string | undefined, size: number): Range | "unsatisfiable" | null {
  const found = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "");
  if (found === null) return null;
  const [, first = "", last = ""] = found;
  if (first === "" && last === "") return null;
  if (first === "") return last === "0" ? "unsatisfiable" : { from: Math.max(0, size - Number(last)), to: size };
  const from = Number(first);
  const to = last === "" ? size : Math.min(size, Number(last) + 1);
  if (last !== "" && Number(last) < from) return null;
  return from >= size ? "unsatisfiable" : { from, to };
}
