import { closeSync, openSync, writeSync } from "node:fs";
import { bounds } from "./bounds.ts";
import type { TruthRecord } from "./truth.ts";

/** Writes the truth as JSON lines: one line for each hit when its answer is complete, without headers and bodies. */
export interface TruthFile {
  append(record: TruthRecord): void;
  flush(): void;
  close(): void;
}

export function openTruthFile(path: string): TruthFile {
  const file = openSync(path, "a");
  let pending = "";
  let timer: ReturnType<typeof setTimeout> | null = null;

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    let rest = Buffer.from(pending);
    pending = "";
    while (rest.length > 0) rest = rest.subarray(writeSync(file, rest));
  }

  return {
    append(record) {
      pending += `${JSON.stringify(withoutBodies(record))}\n`;
      if (pending.length >= bounds.truthFlushBytes) flush();
      else timer ??= setTimeout(flush, bounds.truthFlushMs);
    },
    flush,
    close() {
      flush();
      closeSync(file);
    },
  };
}

function withoutBodies(record: TruthRecord): Partial<TruthRecord> {
  const { request_headers: _headers, parts: _parts, ...rest } = record;
  const { body_text: _body, reply_text: _reply, received_body: _received, sent_body: _sent, ...slim } = rest;
  return slim;
}
