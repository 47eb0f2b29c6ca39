import { numberOf, parseObject, textOf } from "#protocols/index.ts";
import type { IssuerAnswer } from "./context.ts";
import type { Issued } from "./issued.ts";
import { noIdentity } from "./unusable.ts";

/** The answer of an OAuth token endpoint (RFC 6749, 5.1); null if it has no token. Azure writes `expires_in` as a text. */
export function readAccessToken(answer: Pick<IssuerAnswer, "status" | "text">): Issued<string> | null {
  const body = parseObject(answer.text) ?? {};
  const token = textOf(body["access_token"]);
  if (answer.status !== 200 || token === null || token === "") return null;
  const seconds = numberOf(body["expires_in"]) ?? Number(textOf(body["expires_in"]) ?? Number.NaN);
  return { credential: token, expiresInMs: (Number.isNaN(seconds) ? usualSeconds : seconds) * 1_000 };
}

const usualSeconds = 3_600;

/** The issuer's `error` (RFC 6749, 5.2) is a fixed word; its description may be about the account. */
export function refusedBy(
  to: string,
  { status, text }: Pick<IssuerAnswer, "status" | "text">,
  detail: string | null = null,
) {
  const code = textOf(parseObject(text)?.["error"]);
  const words = [code, detail].filter((word) => word !== null && /^[\w.-]{1,64}$/.test(word));
  const why = words.length === 0 ? "" : `: ${words.join(", ")}`;
  return noIdentity(`The gateway got no credential: ${to} answered ${status}${why}.`);
}

export function base64Url(text: string): string {
  return Buffer.from(text, "utf8").toString("base64url");
}
