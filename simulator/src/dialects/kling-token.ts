import { createHmac, timingSafeEqual } from "node:crypto";
import { Refusal } from "../dialect.ts";
import { type JsonObject, parseObject, stringOf } from "../json-body.ts";
import type { SimulatorRequest } from "../request.ts";

/**
 * Verifies the token of a Kling call, a JWT signed with HS256, and returns its issuer: the access key, which is the account.
 * `now` in Unix milliseconds. Throws Refusal.
 */
export function checkKlingToken(
  { headers }: SimulatorRequest,
  keys: Readonly<Record<string, string>>,
  now: number,
): string {
  const token = /^bearer\s+(\S+)$/i.exec(headers["authorization"] ?? "")?.[1];
  if (token === undefined) throw denied("1001", "Authorization is empty");
  const [head = "", claims = "", signature = ""] = token.split(".");
  const payload = partOf(claims);
  const secret = keys[stringOf(payload?.["iss"])];
  if (payload === null || partOf(head)?.["alg"] !== "HS256" || secret === undefined) {
    throw denied("1002", "Authorization is not valid");
  }
  const expected = createHmac("sha256", secret).update(`${head}.${claims}`).digest();
  const actual = Buffer.from(signature, "base64url");
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected))
    throw denied("1000", "signature is not valid");
  const { exp, nbf } = payload;
  if (typeof nbf === "number" && nbf * 1000 > now) throw denied("1003", "Authorization is not yet valid");
  if (typeof exp !== "number" || exp * 1000 <= now) throw denied("1004", "Authorization has expired");
  return stringOf(payload["iss"]);
}

function partOf(text: string): JsonObject | null {
  return parseObject(Buffer.from(text, "base64url"));
}

function denied(code: string, message: string): Refusal {
  return new Refusal(401, message, { code });
}
