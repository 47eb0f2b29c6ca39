import { constants, createHash, createPrivateKey, sign, X509Certificate } from "node:crypto";
import { parseObject, textOf } from "#protocols/index.ts";
import type { CredentialContext } from "../context.ts";
import type { Issued } from "../issued.ts";
import { base64Url, readAccessToken, refusedBy } from "../oauth.ts";
import { unusableCredential } from "../unusable.ts";

const to = "Microsoft Entra ID";

export interface EntraClient {
  readonly tenantId: string;
  readonly clientId: string;
}

/** The secret, or an assertion: a token of another issuer, or one that the client's certificate signs. */
export type EntraProof = { readonly secret: string } | { readonly assertion: string } | Certificate;

interface Certificate {
  /** PEM. */
  readonly certificate: string;
  readonly privateKey: string;
}

/**
 * A token by client credentials.
 * https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 */
export async function entraToken(
  context: CredentialContext,
  client: EntraClient,
  { proof, resource }: { readonly proof: EntraProof; readonly resource: string },
): Promise<Issued<string>> {
  const { tenantId, clientId } = client;
  const set = context.workload.variable(authorityName);
  const url = `${authorityOf(set)}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`;
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: clientId,
    scope: `${resource}/.default`,
    ...proofMembers(proof, { clientId, audience: url, now: context.now() }),
  });
  const answer = await context.send({
    to,
    method: "POST",
    url,
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: form.toString(),
    ...(set === null ? {} : { reach: "operator" }),
  });
  const issued = readAccessToken(answer);
  if (issued !== null) return issued;
  // AADSTS70021: the number is the only part that names the cause, and it has no names of the tenant.
  const description = textOf(parseObject(answer.text)?.["error_description"]) ?? "";
  throw refusedBy(to, answer, /^AADSTS\d+/.exec(description)?.[0] ?? null);
}

function proofMembers(
  proof: EntraProof,
  claims: { readonly clientId: string; readonly audience: string; readonly now: number },
): Record<string, string> {
  if ("secret" in proof) return { client_secret: proof.secret };
  return {
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: "assertion" in proof ? proof.assertion : signedAssertion(proof, claims),
  };
}

/** https://learn.microsoft.com/entra/identity-platform/certificate-credentials */
function signedAssertion(
  { certificate, privateKey }: Certificate,
  { clientId, audience, now }: { readonly clientId: string; readonly audience: string; readonly now: number },
): string {
  const seconds = Math.floor(now / 1_000);
  try {
    const chain = certificate.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    const [own] = chain.map((pem) => new X509Certificate(pem).raw);
    if (own === undefined) throw new Error("no certificate");
    const header = {
      alg: "PS256",
      typ: "JWT",
      "x5t#S256": createHash("sha256").update(own).digest("base64url"),
      x5c: chain.map((pem) => pem.replaceAll(/-----[A-Z ]+-----|\s/g, "")),
    };
    const jti = createHash("sha256").update(`${clientId} ${now} ${audience}`).digest("hex").slice(0, 32);
    const claims = { aud: audience, iss: clientId, sub: clientId, jti, nbf: seconds, iat: seconds, exp: seconds + 600 };
    const unsigned = `${base64Url(JSON.stringify(header))}.${base64Url(JSON.stringify(claims))}`;
    const key = createPrivateKey(privateKey);
    if (key.asymmetricKeyType !== "rsa") throw new Error("not an RSA key");
    const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
    return `${unsigned}.${sign("sha256", Buffer.from(unsigned), { key, ...padding }).toString("base64url")}`;
  } catch {
    // The error may quote the key.
    throw unusableCredential("The provider's identity_certificate or identity_key cannot be used: Entra ID needs RSA.");
  }
}

function authorityOf(set: string | null): string {
  return (set ?? "https://login.microsoftonline.com").replace(/\/+$/, "");
}

/** The resource of Azure OpenAI and Foundry in the cloud of the environment. */
export function cognitiveResource(context: Pick<CredentialContext, "workload">): string {
  return `https://cognitiveservices.azure.${cloudOf(context)}`;
}

/** The domain of Key Vault in the cloud of the environment. */
export function vaultDomain(context: Pick<CredentialContext, "workload">): string {
  return { com: "vault.azure.net", us: "vault.usgovcloudapi.net", cn: "vault.azure.cn" }[cloudOf(context)];
}

function cloudOf({ workload }: Pick<CredentialContext, "workload">): "com" | "us" | "cn" {
  const host = URL.parse(authorityOf(workload.variable(authorityName)))?.hostname ?? "";
  if (host.endsWith(".us")) return "us";
  return host.endsWith(".cn") ? "cn" : "com";
}

const authorityName = "AZURE_AUTHORITY_HOST";
