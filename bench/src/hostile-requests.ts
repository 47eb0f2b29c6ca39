import { gzipSync } from "node:zlib";
import { benchModel, messagesModel } from "./call-request.ts";

/** Bodies that a caller could send to hold up everybody else: one of each kind, as large as it may be or a little larger. */
export const hostileNames = [
  "a string of 60 MiB",
  "white space of 60 MiB",
  "escapes of 30 MiB",
  "a million values",
  "480,000 values in 2 MB",
  "60,000 messages, translated",
  "a million messages, packed",
  "a packed bomb",
] as const;
export type HostileName = (typeof hostileNames)[number];

export interface HostileBody {
  readonly body: Uint8Array;
  readonly packed: boolean;
}

const MiB = 1024 * 1024;
const said = '{"role":"user","content":"a"}';
const begin = `{"model":"${benchModel}","messages":[${said}],"x":`;

export function hostileBody(name: HostileName): HostileBody {
  switch (name) {
    case "a string of 60 MiB":
      return plain(`${begin}"${"a".repeat(60 * MiB)}"}`);
    case "white space of 60 MiB":
      return plain(`${begin}${" ".repeat(60 * MiB)}1}`);
    case "escapes of 30 MiB":
      return plain(`${begin}"${"\\u0061".repeat(5 * MiB)}"}`);
    case "a million values":
      return plain(`${begin}[${"1,".repeat(1_000_000)}1]}`);
    case "480,000 values in 2 MB":
      return plain(`${begin}[${"[],".repeat(480_000)}1]}`);
    case "60,000 messages, translated":
      return plain(`{"model":"${messagesModel}","messages":[${`${said},`.repeat(60_000)}${said}]}`);
    case "a million messages, packed":
      return gzipped(`{"model":"${messagesModel}","messages":[${`${said},`.repeat(1_000_000)}${said}]}`);
    case "a packed bomb":
      return gzipped("x".repeat(64 * MiB));
  }
}

function plain(text: string): HostileBody {
  return { body: Buffer.from(text, "latin1"), packed: false };
}

function gzipped(text: string): HostileBody {
  return { body: gzipSync(text), packed: true };
}
