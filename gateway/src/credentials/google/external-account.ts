import { type JsonObject, objectOf, parseObject, textOf } from "#protocols/index.ts";
import type { CredentialContext } from "../context.ts";
import { readText } from "../identity-file.ts";
import type { Issued } from "../issued.ts";
import { requireOwnTrust, requireVendor } from "../machine-identity.ts";
import { readAccessToken, refusedBy } from "../oauth.ts";
import { noIdentity, unusableCredential } from "../unusable.ts";
import { awsSubject } from "./aws-subject.ts";
import { cloudPlatformScope } from "./service-account.ts";

/**
 * Workload identity federation: exchanges a token of another issuer, and then takes a service account's token if the
 * document names one.
 * https://google.aip.dev/auth/4117
 */
export async function externalAccountToken(context: CredentialContext, document: JsonObject): Promise<Issued<string>> {
  requireOwnTrust(context);
  const audience = textOf(document["audience"]);
  const subjectType = textOf(document["subject_token_type"]);
  if (audience === null || subjectType === null) {
    throw unusableCredential("The provider's external account has no audience or no subject_token_type.");
  }
  const impersonation = textOf(document["service_account_impersonation_url"]);
  const tokenUrl = googleAddress(context, textOf(document["token_url"]) ?? "https://sts.googleapis.com/v1/token");
  const form = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    requested_token_type: "urn:ietf:params:oauth:token-type:access_token",
    audience,
    scope: cloudPlatformScope,
    subject_token: await subjectToken(context, objectOf(document["credential_source"]), audience),
    subject_token_type: subjectType,
  });
  const to = "Google's Security Token Service";
  const answer = await context.send({
    to,
    method: "POST",
    url: tokenUrl,
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: form.toString(),
  });
  const issued = readAccessToken(answer);
  if (issued === null) throw refusedBy(to, answer);
  if (impersonation === null) return issued;
  return impersonatedToken(context, { url: impersonation, document, token: issued.credential });
}

/** https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken */
async function impersonatedToken(
  context: CredentialContext,
  { url, document, token }: { readonly url: string; readonly document: JsonObject; readonly token: string },
): Promise<Issued<string>> {
  const seconds = Number(objectOf(document["service_account_impersonation"])["token_lifetime_seconds"] ?? 3_600);
  const to = "Google's service account credentials API";
  const answer = await context.send({
    to,
    method: "POST",
    url: googleAddress(context, url),
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ scope: [cloudPlatformScope], lifetime: `${seconds}s` }),
  });
  const body = parseObject(answer.text) ?? {};
  const credential = textOf(body["accessToken"]);
  if (answer.status !== 200 || credential === null) {
    const status = textOf(objectOf(body["error"])["status"]);
    throw refusedBy(to, { status: answer.status, text: JSON.stringify({ error: status }) });
  }
  const end = Date.parse(textOf(body["expireTime"]) ?? "");
  return { credential, expiresInMs: Number.isNaN(end) ? seconds * 1_000 : Math.max(0, end - context.now()) };
}

/** The document comes from an administrator: its addresses get tokens, so only Google's are accepted. */
function googleAddress(context: CredentialContext, url: string): string {
  requireVendor(context, url, /^(?:[a-z0-9-]+[.-])?(?:sts|iamcredentials)(?:\.[a-z0-9-]+)?\.googleapis\.com$/);
  return url;
}

async function subjectToken(context: CredentialContext, source: JsonObject, audience: string): Promise<string> {
  const file = textOf(source["file"]);
  const url = textOf(source["url"]);
  if (textOf(source["environment_id"])?.startsWith("aws") === true) return awsSubject(context, audience);
  const reference = file === null ? url : `file://${file}`;
  if (reference === null) throw unusableCredential("The provider's external account has no file, url or AWS source.");
  if (!context.workload.allowsReference(reference)) {
    throw noIdentity("SLUICE_SECRET_REFERENCES does not allow the source of the provider's external account.");
  }
  const text =
    file === null
      ? await fetched(context, reference, objectOf(source["headers"]))
      : await readText(context, file, "The file with the identity token");
  const token = tokenIn(text, objectOf(source["format"]));
  if (token === null || token === "") throw noIdentity("The source of the external account has no token.");
  return token;
}

/** The operator allowed the address by its prefix; it is often a metadata service. */
async function fetched(context: CredentialContext, url: string, headers: JsonObject): Promise<string> {
  const to = "the source of the external account";
  const named = Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []));
  const answer = await context.send({
    to,
    url,
    headers: Object.fromEntries(named) as Record<string, string>,
    reach: "machine",
  });
  if (answer.status !== 200) throw refusedBy(to, answer);
  return answer.text;
}

function tokenIn(text: string, format: JsonObject): string | null {
  if (format["type"] !== "json") return text.trim();
  return textOf(parseObject(text)?.[textOf(format["subject_token_field_name"]) ?? "access_token"]);
}
