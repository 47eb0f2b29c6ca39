import { closeSync, openSync, writeSync } from "node:fs";
import { bounds } from "./bounds.ts";
import type { TruthRecord } from "./truth.ts";

/** Truth as JSON lines: one line for each hit, written when its answer is over. Headers and bodies are left out. */
export interface TruthFile {
  append(record: TruthRecord): void;
  flush(): void;
  close(): void;
}

export function openTruthFile(path: string): TruthFile {
  const file = openSync(path, "a");
  let waiting = "";
  let timer: ReturnType<typeof setTimeout> | null = null;

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    let rest = Buffer.from(waiting);
    waiting = "";
    while (rest.length > 0) rest = rest.subarray(writeSync(file, rest));
  }

  return {
    append(record) {
      waiting += `${JSON.stringify(slim(record))}\n`;
      if (waiting.length >= bounds.truthFlushBytes) flush();
      else timer ??= setTimeout(flush, bounds.truthFlushMs);
    },
    flush,
    close() {
      flush();
      closeSync(file);
    },
  };
}

function slim(record: TruthRecord): Partial<TruthRecord> {
  const { request_headers: _headers, parts: _parts, ...rest } = record;
  const { body_text: _body, reply_text: _reply, received_body: _received, sent_body: _sent, ...slim } = rest;
  return slim;
}
