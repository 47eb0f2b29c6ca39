import { callRequest } from "../call-request.ts";
import { RawConnection } from "../raw-connection.ts";
import { answer, readSpec } from "./spec.ts";

/**
 * Uploads many forms slowly and concurrently. Prints one line when each has sent everything except its last chunk, waits, sends the last
 * chunks one after the other over the same time, and prints another line when every response has arrived.
 */
export interface SlowEditsSpec {
  readonly port: number;
  readonly key: string;
  readonly edits: number;
  readonly bodyBytes: number;
  /** Duration of the slow part, and of sending the last chunks. */
  readonly uploadMs: number;
  readonly holdMs: number;
}

export interface SlowEditsResult {
  readonly failed: number;
}

const everyMs = 20;

const spec = readSpec<SlowEditsSpec>();
const request = callRequest({ port: spec.port, key: spec.key, caller: "edit", bodyBytes: spec.bodyBytes });
const pieces = Math.max(2, Math.floor(spec.uploadMs / everyMs));
const pieceBytes = Math.ceil(request.length / pieces);

const connections = await Promise.all(Array.from({ length: spec.edits }, () => RawConnection.open(spec.port)));
const exchanges = connections.map((connection) => connection.exchange(request.subarray(0, pieceBytes)));
const start = performance.now();
for (let piece = 1; piece < pieces - 1; piece++) {
  await Bun.sleep(Math.max(0, start + piece * everyMs - performance.now()));
  for (const connection of connections) connection.more(request.subarray(piece * pieceBytes, (piece + 1) * pieceBytes));
}
answer({ uploaded: spec.edits });
await Bun.sleep(spec.holdMs);
const endStart = performance.now();
for (const [index, connection] of connections.entries()) {
  await Bun.sleep(Math.max(0, endStart + (spec.uploadMs * index) / spec.edits - performance.now()));
  connection.more(request.subarray((pieces - 1) * pieceBytes));
}
const ended = await Promise.allSettled(exchanges);
answer({
  failed: ended.filter((one) => one.status === "rejected" || one.value.status !== 200).length,
} satisfies SlowEditsResult);
process.exit(0);
