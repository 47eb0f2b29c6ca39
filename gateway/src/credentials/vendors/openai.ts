import type { CredentialContext } from "../context.ts";
import { identityToken } from "../identity-file.ts";
import type { Issued } from "../issued.ts";
import { requireVendor } from "../machine-identity.ts";
import { readAccessToken, refusedBy } from "../oauth.ts";
import { unusableCredential } from "../unusable.ts";

export interface OpenAiIdentity {
  /** Where the token will be sent. */
  readonly baseUrl: string;
  /** See `identityToken`. */
  readonly identityFile: string | null;
  readonly identityProviderId: string | null;
  readonly serviceAccountId: string | null;
}

/** Exchanges a token of the machine (RFC 8693), as `WorkloadIdentityAuth` of OpenAI's SDK does. */
export async function openaiToken(identity: OpenAiIdentity, context: CredentialContext): Promise<Issued<string>> {
  const { baseUrl, identityFile, identityProviderId, serviceAccountId } = identity;
  if (identityProviderId === null || serviceAccountId === null) {
    throw unusableCredential("The provider has no identity_provider_id or no service_account_id.");
  }
  requireVendor(context, baseUrl, /^(?:[a-z]{2}\.)?api\.openai\.com$/);
  const subjectToken = await identityToken(context, identityFile, []);
  const to = "OpenAI's token service";
  const answer = await context.send({
    to,
    method: "POST",
    url: "https://auth.openai.com/oauth/token",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: subjectToken,
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
      identity_provider_id: identityProviderId,
      service_account_id: serviceAccountId,
    }),
  });
  const issued = readAccessToken(answer);
  if (issued === null) throw refusedBy(to, answer);
  return issued;
}
