import { createHmac } from "node:crypto";
import type { Failure, HeaderReader } from "#core/index.ts";
import { numberOf } from "#protocols/index.ts";
import { classifyByStatus, type RefusalReading, refusalObject } from "./classify-by-status.ts";
import type { AuthorizeOptions, BadAnswer, OutboundDraft } from "./kind.ts";
import { settingText } from "./settings.ts";

/**
 * A token of half an hour (RFC 7519, HS256), signed with the account's secret key and issued by
 * `settings.access_key`. An account without one has a plain key instead (newer ones; general knowledge).
 */
export function authorizeKling({ provider, headers }: OutboundDraft, { now }: AuthorizeOptions): void {
  const secret = provider.secret?.reveal();
  if (secret === undefined) return;
  const accessKey = settingText(provider, "access_key");
  headers["authorization"] = `Bearer ${accessKey === null ? secret : signedToken(accessKey, secret, now)}`;
}

/** A bad answer of Kling: `{"code","message"}` with a number, whose thousands say what it is about. */
export function classifyKling(answer: BadAnswer): Failure {
  const code = numberOf(refusalObject(answer.body)["code"]);
  return code === null ? classifyByStatus(answer) : classifyByStatus(answer, readingOf(code));
}

/** The same codes inside a 2xx. Those of Kling's own trouble (5xxx) are no refusal: the task may have been made. */
export function klingRefusal(
  answer: { readonly headers: HeaderReader; readonly body: Uint8Array },
  code: number,
): Failure {
  const headers = new Headers({ "content-type": answer.headers.get("content-type") ?? "application/json" });
  const status = statusOf(code);
  const failure = classifyByStatus({ status, headers, body: answer.body, now: 0 }, readingOf(code));
  return status >= 500 ? failure.with({ arrival: "unknown" }) : failure;
}

function readingOf(code: number): RefusalReading {
  if ((code >= 1_000 && code <= 1_004) || code === 1_103) return { account: "credential" };
  return { account: code >= 1_100 && code <= 1_102 ? "credit" : null };
}

function statusOf(code: number): number {
  if (code >= 1_000 && code <= 1_004) return 401;
  if (code >= 1_200 && code <= 1_301) return 400;
  if (code >= 1_302 && code <= 1_304) return 429;
  return code >= 1_100 && code <= 1_103 ? 403 : 500;
}

function signedToken(accessKey: string, secretKey: string, now: number): string {
  const seconds = Math.floor(now / 1_000);
  const claims = { iss: accessKey, exp: seconds + 1_800, nbf: seconds - 5 };
  const unsigned = `${base64Url({ alg: "HS256", typ: "JWT" })}.${base64Url(claims)}`;
  return `${unsigned}.${createHmac("sha256", secretKey).update(unsigned).digest("base64url")}`;
}

function base64Url(value: object): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("base64url");
}
