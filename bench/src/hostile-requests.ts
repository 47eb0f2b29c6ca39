import { gzipSync } from "node:zlib";
import { benchModel, imageModel, messagesModel, paths } from "./call-request.ts";

/**
 * Requests with which a caller could block others: bodies of each kind at or just above their maximum size, and bodies that once
 * blocked the event loop or exhausted memory in a review.
 */
export const hostileNames = [
  "a string of 60 MiB",
  "white space of 60 MiB",
  "escapes of 30 MiB",
  "a million values",
  "480,000 values in 2 MB",
  "60,000 messages, translated",
  "a million messages, packed",
  "a packed bomb",
  "a callback without its token",
  "an asset of 2.5 million members, packed",
  "the same at the key's limit",
  "a picture of two million members",
] as const;
export type HostileName = (typeof hostileNames)[number];

/** Sender: the key of the bench, a rate-limited key, or no key. */
type HostileCaller = "key" | "limited" | "nobody";

export interface HostileRequest {
  readonly path: string;
  readonly caller: HostileCaller;
  readonly body: Uint8Array;
  readonly packed: boolean;
}

const MiB = 1024 * 1024;
const message = '{"role":"user","content":"a"}';
const begin = `{"model":"${benchModel}","messages":[${message}],"x":`;
const callbackPath = `/v1/video/callbacks/vt_${"0".repeat(26)}/${"a".repeat(43)}`;

export function hostileRequest(name: HostileName): HostileRequest {
  switch (name) {
    case "a string of 60 MiB":
      return chat(plain(`${begin}"${"a".repeat(60 * MiB)}"}`));
    case "white space of 60 MiB":
      return chat(plain(`${begin}${" ".repeat(60 * MiB)}1}`));
    case "escapes of 30 MiB":
      return chat(plain(`${begin}"${"\\u0061".repeat(5 * MiB)}"}`));
    case "a million values":
      return chat(plain(`${begin}[${"1,".repeat(1_000_000)}1]}`));
    case "480,000 values in 2 MB":
      return chat(plain(`${begin}[${"[],".repeat(480_000)}1]}`));
    case "60,000 messages, translated":
      return chat(plain(`{"model":"${messagesModel}","messages":[${`${message},`.repeat(60_000)}${message}]}`));
    case "a million messages, packed":
      return chat(gzipped(`{"model":"${messagesModel}","messages":[${`${message},`.repeat(1_000_000)}${message}]}`));
    case "a packed bomb":
      return chat(gzipped("x".repeat(64 * MiB)));
    case "a callback without its token":
      return { path: callbackPath, caller: "nobody", ...gzipped(`{"id":"${"x".repeat(64 * MiB - 16)}"}`) };
    case "an asset of 2.5 million members, packed":
      return { path: "/v1/assets", caller: "key", ...gzipped(members(2_500_000)) };
    case "the same at the key's limit":
      return { path: "/v1/assets", caller: "limited", ...gzipped(members(2_500_000)) };
    case "a picture of two million members":
      return {
        path: "/v1/images/generations",
        caller: "key",
        ...plain(`{"model":"${imageModel}","prompt":"a","x":[${"{},".repeat(2_000_000)}1]}`),
      };
  }
}

interface Body {
  readonly body: Uint8Array;
  readonly packed: boolean;
}

function chat(body: Body): HostileRequest {
  return { path: paths.chat, caller: "key", ...body };
}

function members(count: number): string {
  const parts: string[] = [];
  for (let at = 0; at < count; at++) parts.push(`"k${at}":1`);
  return `{${parts.join()}}`;
}

function plain(text: string): Body {
  return { body: Buffer.from(text, "latin1"), packed: false };
}

function gzipped(text: string): Body {
  return { body: gzipSync(text), packed: true };
}
