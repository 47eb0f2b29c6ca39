import { numberOf, parseObject, textOf } from "#protocols/index.ts";
import type { CredentialContext, IssuerAnswer } from "../context.ts";
import type { AwsKeys, Issued } from "../issued.ts";
import { noIdentity } from "../unusable.ts";

/** Keys in JSON, as the metadata service and the container services answer. */
export function keysInJson(answer: IssuerAnswer, to: string, context: CredentialContext): Issued<AwsKeys> {
  const body = parseObject(answer.text) ?? {};
  const accessKeyId = textOf(body["AccessKeyId"]);
  const secretAccessKey = textOf(body["SecretAccessKey"]);
  if (answer.status !== 200 || accessKeyId === null || secretAccessKey === null) {
    throw refused(to, answer.status, textOf(body["code"]) ?? textOf(body["Code"]));
  }
  const sessionToken = textOf(body["Token"]);
  const credential = { accessKeyId, secretAccessKey, sessionToken };
  return { credential, expiresInMs: untilMs(textOf(body["Expiration"]), context) };
}

/**
 * Keys in the XML of STS. Its values have no entities: ids are letters and digits, secrets and tokens base64.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
 */
export function keysInXml(answer: IssuerAnswer, to: string, context: CredentialContext): Issued<AwsKeys> {
  const [accessKeyId, secretAccessKey, sessionToken] = ["AccessKeyId", "SecretAccessKey", "SessionToken"].map((tag) =>
    textIn(answer.text, tag),
  );
  if (answer.status !== 200 || accessKeyId == null || secretAccessKey == null || sessionToken == null) {
    throw refused(to, answer.status, textIn(answer.text, "Code"));
  }
  const expiresInMs = untilMs(textIn(answer.text, "Expiration"), context);
  return { credential: { accessKeyId, secretAccessKey, sessionToken }, expiresInMs };
}

/** An error code is a short word; anything else may be the issuer's text about the account. */
export function refused(to: string, status: number, code: string | null) {
  const named = code !== null && /^[\w.-]{1,64}$/.test(code) ? `: ${code}` : "";
  return noIdentity(`The gateway got no credential: ${to} answered ${status}${named}.`);
}

/** Without a readable time, keys are fetched again after some minutes. */
export function untilMs(time: string | number | null, context: Pick<CredentialContext, "now">): number {
  const end = typeof time === "string" ? Date.parse(time) : (numberOf(time) ?? Number.NaN);
  return Number.isNaN(end) ? unknownLifeMs : Math.max(0, end - context.now());
}

const unknownLifeMs = 5 * 60_000;

function textIn(xml: string, tag: string): string | null {
  return new RegExp(`<${tag}>\\s*([^<]*?)\\s*</${tag}>`).exec(xml)?.[1] ?? null;
}
